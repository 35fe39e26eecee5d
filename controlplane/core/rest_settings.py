"""Settings of the REST framework and of the API document. ``controlplane.settings`` has them."""

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "controlplane.api.problem.handle",
    # The first one decides that a request without a login gets 401 and not 403.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "controlplane.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["controlplane.api.instants.Renderer"],
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%S.%fZ",  # controlplane.api.instants
    "DEFAULT_PARSER_CLASSES": ["controlplane.api.parsers.BoundedJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "controlplane.api.negotiation.JsonOnly",
    "DEFAULT_METADATA_CLASS": None,  # no OPTIONS
    "URL_FORMAT_OVERRIDE": None,  # no ?format=
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Waypost",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "DESCRIPTION": "Messaging as a service: isolated AMQP spaces, metered and billed.",
    "COMPONENT_SPLIT_REQUEST": True,
    # Fields of one name with other choices, such as ``state``, would get names with hashes.
    "ENUM_NAME_OVERRIDES": {
        "CreditKind": "plans.models.CreditGrant.Kind",
        "CloseRunActionKind": "plans.models.CloseRunAction.Kind",
        "AddressType": "tenants.models.AddressType",
        "SpaceType": "tenants.models.SpaceType",
        "Role": "tenants.models.Role",
        "InvoiceState": "plans.models.Invoice.State",
        "OperationState": "controlplane.core.models.Operation.State",
        "RolloutState": "tenants.models.Rollout.State",
        "ChannelKind": "tenants.notifications.models.Channel.Kind",
        "DeliveryState": "tenants.notifications.models.Delivery.State",
        "KindEnum": ["person", "token"],
        "CatalogDraftState": "plans.models.CatalogDraft.State",
        "BackTestState": "plans.models.BackTest.State",
        "BackTestSource": "plans.models.BackTest.Source",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "controlplane.api.schema.add_refusals",
        "controlplane.api.examples.add_examples",
    ],
}

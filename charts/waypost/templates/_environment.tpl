{{/*
The environment of Waypost's processes: settings from one config map, secrets by reference.
*/}}
{{- define "waypost.environment.settings" -}}
- configMapRef: {name: {{ include "waypost.names.settings" . }}}
{{- end }}

{{- define "waypost.environment.queue" -}}
- name: WAYPOST_REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.queue.existingSecret | default (include "waypost.names.own-connections" .) }}
      key: {{ ternary "url" "queue-url" (ne .Values.queue.existingSecret "") }}
{{- end }}

{{/*
A checksum of the connections in values: when they change, all pods that use them restart together.
Not a checksum of the rendered secret: its generated passwords differ at each rendering until the
cluster has stored them.
*/}}
{{- define "waypost.checksum.connections" -}}
{{- $store := pick .Values.lakehouse.objectStore "accessKey" "secretKey" -}}
{{ list (pick .Values.database "url" "bundled") (pick .Values.queue "url" "bundled") $store | toJson | sha256sum | trunc 8 }}
{{- end }}

{{/* Required by every process: without them it would use the public default keys of the source. */}}
{{- define "waypost.environment.keys" -}}
- name: WAYPOST_SECRET_KEY
  valueFrom: {secretKeyRef: {name: {{ include "waypost.names.secrets" . }}, key: secret-key}}
- name: WAYPOST_SECRET_KEYS
  valueFrom: {secretKeyRef: {name: {{ include "waypost.names.secrets" . }}, key: sealing-keys}}
{{- end }}

{{- define "waypost.environment.database" -}}
- name: WAYPOST_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret | default (include "waypost.names.own-connections" .) }}
      key: {{ ternary "url" "database-url" (ne .Values.database.existingSecret "") }}
{{- end }}

{{/* The secrets of every process that reads the database. */}}
{{- define "waypost.environment.secrets" -}}
{{ include "waypost.environment.database" . }}
{{ include "waypost.environment.queue" . }}
{{ include "waypost.environment.keys" . }}
- name: WAYPOST_METRICS_TOKEN
  valueFrom: {secretKeyRef: {name: {{ include "waypost.names.secrets" . }}, key: metrics-token}}
{{- with .Values.oidc.existingSecret }}
- name: WAYPOST_OIDC_CLIENT_SECRET
  valueFrom: {secretKeyRef: {name: {{ . }}, key: client-secret}}
{{- end }}
{{- with .Values.mail.existingSecret }}
- name: WAYPOST_SMTP_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ . }}, key: smtp-password}}
{{- end }}
{{- with .Values.payments }}
{{- if and .existingSecret (eq .provider "stripe") }}
- name: WAYPOST_STRIPE_KEY
  valueFrom: {secretKeyRef: {name: {{ .existingSecret }}, key: stripe-key}}
- name: WAYPOST_STRIPE_WEBHOOK_SECRET
  valueFrom: {secretKeyRef: {name: {{ .existingSecret }}, key: stripe-webhook-secret}}
{{- end }}
{{- if .existingSecret }}
- name: WAYPOST_PAYMENT_WEBHOOK_SECRET
  valueFrom: {secretKeyRef: {name: {{ .existingSecret }}, key: payment-webhook-secret, optional: {{ ne .provider "webhook" }}}}
{{- end }}
{{- end }}
{{- end }}

{{/* The memory limit of a container that runs Spark. Called with the container's resources. */}}
{{- define "waypost.environment.spark" -}}
{{- if dig "limits" "memory" "" . }}
- name: WAYPOST_PIPELINE_CONTAINER_MB
  valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}
{{- end }}
{{- end }}

{{- define "waypost.environment.web" -}}
{{ include "waypost.environment.secrets" . }}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
- name: WAYPOST_ALLOWED_HOSTS
  value: {{ include "waypost.address.allowed" . | quote }}
{{- end }}

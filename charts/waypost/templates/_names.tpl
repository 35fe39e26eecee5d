{{/*
The names of all objects, one template each. No other file composes a name.
Use: {{ include "waypost.names.web" . }} with the root context.
*/}}
{{- define "waypost.names.base" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "waypost.names.web" }}{{ include "waypost.names.base" . }}-web{{ end }}
{{- define "waypost.names.worker" }}{{ include "waypost.names.base" . }}-worker{{ end }}
{{- define "waypost.names.metering" }}{{ include "waypost.names.base" . }}-metering{{ end }}
{{- define "waypost.names.metering-namespaces" }}{{ include "waypost.names.metering" . }}-namespaces{{ end }}
{{- define "waypost.names.beat" }}{{ include "waypost.names.base" . }}-beat{{ end }}
{{- define "waypost.names.auth" }}{{ include "waypost.names.base" . }}-auth{{ end }}
{{- define "waypost.names.auth-peers" }}{{ include "waypost.names.base" . }}-auth-peers{{ end }}
{{- define "waypost.names.pipeline" }}{{ include "waypost.names.base" . }}-pipeline{{ end }}
{{- define "waypost.names.spark" }}{{ include "waypost.names.base" . }}-spark{{ end }}
{{- define "waypost.names.backup" }}{{ include "waypost.names.base" . }}-backup{{ end }}
{{- define "waypost.names.custom-resources" }}{{ include "waypost.names.base" . }}-custom-resources{{ end }}
{{- define "waypost.names.database" }}{{ include "waypost.names.base" . }}-database{{ end }}
{{- define "waypost.names.queue" }}{{ include "waypost.names.base" . }}-queue{{ end }}
{{- define "waypost.names.test-portal" }}{{ include "waypost.names.base" . }}-test-portal{{ end }}
{{- define "waypost.names.pods" }}{{ include "waypost.names.base" . }}-pods{{ end }}
{{- define "waypost.names.lakehouse" }}{{ include "waypost.names.base" . }}-lakehouse{{ end }}
{{- define "waypost.names.settings" }}{{ include "waypost.names.base" . }}-settings{{ end }}
{{- define "waypost.names.cluster" }}{{ include "waypost.names.base" . }}-cluster{{ end }}
{{- define "waypost.names.dashboard" }}{{ include "waypost.names.base" . }}-dashboard{{ end }}

{{/* The worker's role in each space's namespace: a ClusterRole, which the worker binds by name. */}}
{{- define "waypost.names.space" }}{{ include "waypost.names.base" . }}-space{{ end }}
{{- define "waypost.names.pull-secrets" }}{{ include "waypost.names.base" . }}-pull-secrets{{ end }}
{{/* Distinguishes this installation from others in the cluster. A label's value: at most 63 long. */}}
{{- define "waypost.names.installation" -}}
{{- $whole := printf "%s.%s" .Release.Namespace .Release.Name -}}
{{- if gt (len $whole) 63 -}}
{{ $whole | trunc 50 }}-{{ $whole | sha256sum | trunc 12 }}
{{- else -}}
{{ $whole }}
{{- end -}}
{{- end }}
{{- define "waypost.names.admission" }}{{ include "waypost.names.base" . }}-worker{{ end }}
{{- define "waypost.names.certificate-reader" }}{{ include "waypost.names.base" . }}-certificate{{ end }}

{{/*
A new name whenever helm's revision or any value changes: a job cannot be changed in place, and one
that has failed finally must run again. The job is idempotent.
*/}}
{{- define "waypost.names.migrate" -}}
{{ include "waypost.names.base" . }}-migrate-{{ list .Chart.Version .Chart.AppVersion .Values .Release.Revision | toJson | sha256sum | trunc 8 }}
{{- end }}

{{/* Generated objects (`own-...`), and the supplied ones that replace them. */}}
{{- define "waypost.names.own-secrets" }}{{ include "waypost.names.base" . }}-secrets{{ end }}
{{- define "waypost.names.secrets" -}}
{{ .Values.secrets.existingSecret | default (include "waypost.names.own-secrets" .) }}
{{- end }}
{{- define "waypost.names.own-connections" }}{{ include "waypost.names.base" . }}-connections{{ end }}
{{- define "waypost.names.own-control-authority" }}{{ include "waypost.names.base" . }}-control-authority{{ end }}
{{- define "waypost.names.control-authority" -}}
{{ .Values.controlAuthority.existingSecret | default (include "waypost.names.own-control-authority" .) }}
{{- end }}
{{- define "waypost.names.lakehouse-claim" -}}
{{ .Values.lakehouse.existingClaim | default (include "waypost.names.lakehouse" .) }}
{{- end }}

{{- define "waypost.names.backups-claim" -}}
{{ .Values.backup.existingClaim | default (printf "%s-backups" (include "waypost.names.base" .)) }}
{{- end }}

{{- define "waypost.names.lakehouse-keys" -}}
{{ .Values.lakehouse.objectStore.existingSecret | default (include "waypost.names.own-connections" .) }}
{{- end }}

{{/* One network policy for each component. */}}
{{- define "waypost.names.policy-everyone" }}{{ include "waypost.names.base" . }}-everyone{{ end }}
{{- define "waypost.names.policy-web" }}{{ include "waypost.names.base" . }}-web{{ end }}
{{- define "waypost.names.policy-workers" }}{{ include "waypost.names.base" . }}-workers{{ end }}
{{- define "waypost.names.policy-listeners" }}{{ include "waypost.names.base" . }}-listeners{{ end }}
{{- define "waypost.names.policy-beat" }}{{ include "waypost.names.base" . }}-beat{{ end }}
{{- define "waypost.names.policy-auth" }}{{ include "waypost.names.base" . }}-auth{{ end }}
{{- define "waypost.names.policy-test" }}{{ include "waypost.names.base" . }}-test{{ end }}
{{- define "waypost.names.policy-migrate" }}{{ include "waypost.names.base" . }}-migrate{{ end }}
{{- define "waypost.names.policy-pipeline" }}{{ include "waypost.names.base" . }}-pipeline{{ end }}
{{- define "waypost.names.policy-backup" }}{{ include "waypost.names.base" . }}-backup{{ end }}
{{- define "waypost.names.policy-custom-resources" }}{{ include "waypost.names.base" . }}-custom-resources{{ end }}
{{- define "waypost.names.policy-executors" }}{{ include "waypost.names.base" . }}-executors{{ end }}
{{- define "waypost.names.policy-database" }}{{ include "waypost.names.base" . }}-database{{ end }}
{{- define "waypost.names.policy-queue" }}{{ include "waypost.names.base" . }}-queue{{ end }}

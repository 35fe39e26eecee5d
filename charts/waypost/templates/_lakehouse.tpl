{{/*
Access to the lakehouse: a mounted volume, or the bucket with its keys. Only for pods that read or
write it.
*/}}
{{- define "waypost.lakehouse.volumes" -}}
{{- if not .Values.lakehouse.objectStore.enabled }}
- name: lakehouse
  persistentVolumeClaim: {claimName: {{ include "waypost.names.lakehouse-claim" . }}}
{{- end }}
{{- end }}
{{- define "waypost.lakehouse.mounts" -}}
{{- if not .Values.lakehouse.objectStore.enabled }}
- {name: lakehouse, mountPath: /var/lib/waypost/lakehouse}
{{- end }}
{{- end }}

{{- define "waypost.lakehouse.environment" -}}
{{- with .Values.lakehouse.objectStore }}
{{- if .enabled }}
- {name: WAYPOST_LAKEHOUSE_ROOT, value: "s3://{{ .bucket }}{{ with .prefix }}/{{ . }}{{ end }}"}
- {name: WAYPOST_LAKEHOUSE_ENDPOINT, value: {{ .endpoint | quote }}}
- {name: WAYPOST_LAKEHOUSE_REGION, value: {{ .region | quote }}}
{{ include "waypost.lakehouse.keys" (list $ "WAYPOST_LAKEHOUSE_ACCESS_KEY" "WAYPOST_LAKEHOUSE_SECRET_KEY") }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The object store's keys by reference. Called with (list <root> <variable of the access key>
<variable of the secret key>).
*/}}
{{- define "waypost.lakehouse.keys" -}}
{{- $secret := include "waypost.names.lakehouse-keys" (index . 0) -}}
- name: {{ index . 1 }}
  valueFrom: {secretKeyRef: {name: {{ $secret }}, key: access-key}}
- name: {{ index . 2 }}
  valueFrom: {secretKeyRef: {name: {{ $secret }}, key: secret-key}}
{{- end }}

{{/* Egress to the object store: its port at any address. */}}
{{- define "waypost.lakehouse.egress" -}}
{{- with .Values.lakehouse.objectStore }}
{{- if .enabled }}
{{- $usual := ternary "80" "443" (hasPrefix "http://" .endpoint) }}
- ports: {{ include "waypost.network.port" (regexFind ":[0-9]+$" .endpoint | trimPrefix ":" | default $usual) }}
{{- end }}
{{- end }}
{{- end }}

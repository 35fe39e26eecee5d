{{/* The portal's base URL, from `publicUrl` or `expose`. */}}
{{- define "waypost.address.public" -}}
{{- if .Values.publicUrl }}{{ .Values.publicUrl }}
{{- else if .Values.expose.host }}https://{{ .Values.expose.host }}
{{- else }}http://localhost:8000
{{- end }}
{{- end }}

{{- define "waypost.address.host" -}}
{{ (urlParse (include "waypost.address.public" .)).hostname }}
{{- end }}

{{/*
Django's ALLOWED_HOSTS. Prometheus scrapes a pod by its IP address: the kubelet replaces $(POD_IP).
*/}}
{{- define "waypost.address.allowed" -}}
{{- $service := include "waypost.names.web" . -}}
{{ list (include "waypost.address.host" .) .Values.expose.host "localhost" $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) "$(POD_IP)" | compact | uniq | join "," }}
{{- end }}

{{/* Django's CSRF_TRUSTED_ORIGINS. publicUrl may have another host than expose.host. */}}
{{- define "waypost.address.origins" -}}
{{- $exposed := ternary (printf "https://%s" .Values.expose.host) "" (ne .Values.expose.host "") -}}
{{ list (include "waypost.address.public" .) $exposed | compact | uniq | join "," }}
{{- end }}

{{- define "waypost.address.auth" -}}
{{ include "waypost.names.auth" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "waypost.address.proxies" -}}
{{- if kindIs "invalid" .Values.trustedProxies }}{{ ternary "1" "0" (ne .Values.expose.host "") }}
{{- else }}{{ .Values.trustedProxies }}
{{- end }}
{{- end }}

{{/* How the portal is reached, from `expose` and `publicUrl`. */}}
{{- define "waypost.address.public" -}}
{{- if .Values.publicUrl }}{{ .Values.publicUrl }}
{{- else if .Values.expose.host }}https://{{ .Values.expose.host }}
{{- else }}http://localhost:8000
{{- end }}
{{- end }}

{{- define "waypost.address.host" -}}
{{ (urlParse (include "waypost.address.public" .)).hostname }}
{{- end }}

{{/* Names that requests may be for; $(POD_IP) is for scrapes, and is filled in by the kubelet. */}}
{{- define "waypost.address.allowed" -}}
{{- $service := include "waypost.names.web" . -}}
{{ list (include "waypost.address.host" .) "localhost" $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) "$(POD_IP)" "[$(POD_IP)]" | uniq | join "," }}
{{- end }}

{{- define "waypost.address.auth" -}}
{{ include "waypost.names.auth" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "waypost.address.proxies" -}}
{{- if kindIs "invalid" .Values.trustedProxies }}{{ ternary "1" "0" (ne .Values.expose.host "") }}
{{- else }}{{ .Values.trustedProxies }}
{{- end }}
{{- end }}

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
{{ list (include "waypost.address.host" .) .Values.expose.host "localhost" $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) "$(POD_IP)" | compact | uniq | join "," }}
{{- end }}

{{/* Where forms may be sent from: publicUrl may name another host than the one that is exposed. */}}
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

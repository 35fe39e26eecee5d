{{/*
A full image reference. Called with (list <root> <image>): (list . .Values.broker.image).
Empty where the image has no repository.
*/}}
{{- define "waypost.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := $root.Values.imageRegistry | default $image.registry -}}
{{- with $image.repository -}}
{{- with $registry }}{{ . }}/{{ end }}{{ . }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $root.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

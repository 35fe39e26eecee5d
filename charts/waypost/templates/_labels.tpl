{{/*
Labels. Called with (list <root> <component>): (list . "web").
`selector` never changes for a release, because Kubernetes does not allow changes of selectors.
*/}}
{{- define "waypost.labels.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: waypost
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "waypost.labels" -}}
{{- $root := index . 0 -}}
{{ include "waypost.labels.selector" . }}
app.kubernetes.io/part-of: waypost
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The labels of a pod: those that selectors read, and the site's own. */}}
{{- define "waypost.labels.pod" -}}
{{- $root := index . 0 -}}
{{ include "waypost.labels.selector" . }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* On the pods that manage spaces: network policies of the spaces admit only these. */}}
{{- define "waypost.labels.manages-spaces" -}}
waypost.io/manages-spaces: "true"
{{- end }}

{{/* The labels that the Kubernetes adapter sets on every namespace of a space. */}}
{{- define "waypost.labels.space" -}}
app.kubernetes.io/part-of: waypost
app.kubernetes.io/managed-by: waypost
{{- end }}

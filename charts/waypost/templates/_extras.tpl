{{/*
What values add to the pods of a component. All are called with (list <root> <component>); each is
empty where the values add nothing.
*/}}
{{- define "waypost.extras.values" -}}
{{- $root := index . 0 -}}
{{- with dig (index . 2) list (index $root.Values (index . 1)) }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "waypost.extras.environment" }}{{ include "waypost.extras.values" (append . "extraEnv") }}{{ end }}
{{- define "waypost.extras.volumes" }}{{ include "waypost.extras.values" (append . "extraVolumes") }}{{ end }}
{{- define "waypost.extras.mounts" }}{{ include "waypost.extras.values" (append . "extraVolumeMounts") }}{{ end }}
{{- define "waypost.extras.init-containers" }}{{ include "waypost.extras.values" (append . "initContainers") }}{{ end }}

{{/* The annotations for the pods of every component, and the component's own, which win. */}}
{{- define "waypost.extras.annotations" -}}
{{- $root := index . 0 -}}
{{- $own := dig "podAnnotations" dict (index $root.Values (index . 1)) -}}
{{- with merge dict $own $root.Values.podAnnotations }}
{{- toYaml . }}
{{- end }}
{{- end }}

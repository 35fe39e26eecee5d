{{/* Every pod of the chart meets the Pod Security Standard "restricted". */}}
{{- define "waypost.security.pod" -}}
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- if ne .Values.platform "openshift" }}
runAsUser: {{ .Values.identity.user | int64 }}
runAsGroup: {{ .Values.identity.group | int64 }}
fsGroup: {{ .Values.identity.group | int64 }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
{{- end }}

{{- define "waypost.security.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Scheduling of pods, and their pull secrets. Called with (list <root> <component>). */}}
{{- define "waypost.placing" -}}
{{- $root := index . 0 -}}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- if has (index . 1) (list "web" "worker" "auth") }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: {{ $root.Values.topologySpread }}
    labelSelector:
      matchLabels: {{ include "waypost.labels.selector" . | nindent 8 }}
{{- end }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{ include "waypost.labels.selector" . | nindent 14 }}
{{- end }}

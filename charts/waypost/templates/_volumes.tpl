{{/* Scratch space for every container, because the root file system is read-only. */}}
{{- define "waypost.volumes.scratch" -}}
- name: scratch
  emptyDir: {sizeLimit: {{ . }}}
{{- end }}
{{- define "waypost.mounts.scratch" -}}
- {name: scratch, mountPath: /tmp, subPath: tmp}
- {name: scratch, mountPath: /var/lib/waypost/run, subPath: run}
{{- end }}

{{- define "waypost.volumes.database-authority" -}}
{{- with .Values.database.sslAuthority }}
- name: database-authority
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- define "waypost.mounts.database-authority" -}}
{{- if .Values.database.sslAuthority }}
- {name: database-authority, mountPath: /etc/waypost/database, readOnly: true}
{{- end }}
{{- end }}

{{/* Files that the processes which manage spaces need in addition to their settings. */}}
{{- define "waypost.volumes.manages-spaces" -}}
- name: cluster
  configMap: {name: {{ include "waypost.names.cluster" . }}}
- name: control-authority
  secret: {secretName: {{ include "waypost.names.control-authority" . }}, defaultMode: 0440}
{{- end }}
{{- define "waypost.mounts.manages-spaces" -}}
- {name: cluster, mountPath: /etc/waypost/cluster, readOnly: true}
- {name: control-authority, mountPath: /etc/waypost/control-authority, readOnly: true}
{{- end }}

{{/*
An init container that waits until the migrate job has created this version's tables.
Called with (list <root> <component>): it has the component's own variables and mounts too.
*/}}
{{- define "waypost.wait-for-tables" -}}
{{- $call := . -}}
{{- with index . 0 -}}
- name: wait-for-tables
  image: {{ include "waypost.image" (list . .Values.image) }}
  imagePullPolicy: {{ .Values.imagePullPolicy }}
  command: [/bin/sh, -c, "until python -m django migrate --check; do sleep 2; done"]
  envFrom: {{ include "waypost.environment.settings" . | nindent 4 }}
  env:
    {{- include "waypost.environment.secrets" . | nindent 4 }}
    {{- include "waypost.extras.environment" $call | nindent 4 }}
  securityContext: {{ include "waypost.security.container" . | nindent 4 }}
  resources: {{ toYaml .Values.migrate.resources | nindent 4 }}
  volumeMounts:
    {{- include "waypost.mounts.scratch" . | nindent 4 }}
    {{- include "waypost.mounts.database-authority" . | nindent 4 }}
    {{- include "waypost.extras.mounts" $call | nindent 4 }}
{{- end }}
{{- end }}

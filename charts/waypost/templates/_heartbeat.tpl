{{/* The file that a Celery process touches while it works: controlplane/heartbeat.py. */}}
{{- define "waypost.heartbeat.environment" -}}
- {name: WAYPOST_HEARTBEAT_FILE, value: /var/lib/waypost/run/heartbeat}
{{- end }}

{{/*
Restarts a process that hangs. It touches its file every two seconds; the probe fails when the file
is older than 120 seconds and the queue answers. So no outage of the queue restarts anything, and
five failures at intervals of 60 seconds leave time to connect again (at most 30 seconds between two
attempts) and to start on a busy node. Tasks run in processes or in Spark beside the one that
touches the file, so a long task does not count. A process that hangs ends after about seven minutes.
*/}}
{{- define "waypost.heartbeat.probe" -}}
exec: {command: [python, -m, controlplane.heartbeat]}
initialDelaySeconds: 60
periodSeconds: 60
timeoutSeconds: 30
failureThreshold: 5
{{- end }}

{{/* Parts of network policies. */}}
{{- define "waypost.network.components" -}}
{{- $root := index . 0 -}}
matchLabels:
  app.kubernetes.io/name: waypost
  app.kubernetes.io/instance: {{ $root.Release.Name }}
matchExpressions:
  - {key: app.kubernetes.io/component, operator: In, values: {{ rest . | toJson }}}
{{- end }}

{{- define "waypost.network.port" -}}
[{protocol: TCP, port: {{ . }}}]
{{- end }}

{{/*
Egress to the database or the queue: the pods of a bundled one, else its port at any address.
Called with (list <root> "database") or (list <root> "queue").
*/}}
{{- define "waypost.network.to-store" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $store := index $root.Values $name -}}
- ports: {{ include "waypost.network.port" $store.port }}
  {{- if $store.bundled }}
  to:
    - podSelector: {{ include "waypost.network.components" (list $root $name) | nindent 8 }}
  {{- end }}
{{- end }}

{{- define "waypost.network.to-api" -}}
- ports:
  {{- range .Values.networkPolicy.apiPorts }}
    - {protocol: TCP, port: {{ . }}}
  {{- end }}
  {{- with .Values.networkPolicy.apiTo }}
  to: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Egress to the SMTP server, at any address. */}}
{{- define "waypost.network.to-mail" -}}
{{- if .Values.mail.host }}
- ports: {{ include "waypost.network.port" .Values.mail.port }}
{{- end }}
{{- end }}

{{/* Egress to Stripe, at any address. */}}
{{- define "waypost.network.to-payments" -}}
{{- if eq .Values.payments.provider "stripe" }}
- ports: {{ include "waypost.network.port" 443 }}
{{- end }}
{{- end }}

{{/* Egress to receivers of webhooks: public addresses only, as controlplane.core.outbound checks too. */}}
{{- define "waypost.network.to-webhooks" -}}
{{- if .Values.networkPolicy.webhooks }}
- ports: {{ include "waypost.network.port" 443 }}
  to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
    - ipBlock:
        cidr: ::/0
        except: ["fc00::/7", "fe80::/10"]
{{- end }}
{{- end }}

{{/* The cluster's DNS as YAML: the values, or else the defaults of the platform. */}}
{{- define "waypost.dns" -}}
{{- $openshift := eq .Values.platform "openshift" -}}
namespace: {{ .Values.dns.namespace | default (ternary "openshift-dns" "kube-system" $openshift) }}
labels: {{ .Values.dns.labels | default (ternary (dict "dns.operator.openshift.io/daemonset-dns" "default") (dict "k8s-app" "kube-dns") $openshift) | toJson }}
ports: {{ .Values.dns.ports | default (ternary (list 5353) (list 53) $openshift) | toJson }}
cidrs: {{ .Values.dns.cidrs | toJson }}
{{- end }}

{{/*
A name that is valid for every kind of object: at most 63 characters, a letter first, no dots. What has to be changed
for that gets a hash of the whole name, so that two names never become one.
*/}}
{{- define "hadoop-bench-operator.safeName" -}}
{{- $clean := regexReplaceAll "[^a-z0-9-]" (lower .) "-" -}}
{{- if not (regexMatch "^[a-z]" $clean) -}}
{{- $clean = printf "r-%s" $clean -}}
{{- end -}}
{{- if or (ne $clean .) (gt (len $clean) 63) -}}
{{- printf "%s-%s" ($clean | trunc 54 | trimAll "-") (sha256sum . | trunc 8) -}}
{{- else -}}
{{- $clean -}}
{{- end -}}
{{- end -}}

{{- define "hadoop-bench-operator.name" -}}
{{- include "hadoop-bench-operator.safeName" (default .Chart.Name .Values.nameOverride) -}}
{{- end -}}

{{/* The unbounded base of all names: the release's name, with the chart's name unless it is part of it. */}}
{{- define "hadoop-bench-operator.base" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end -}}

{{- define "hadoop-bench-operator.fullname" -}}
{{- include "hadoop-bench-operator.safeName" (include "hadoop-bench-operator.base" .) -}}
{{- end -}}

{{/* The name of a namespaced object. Arguments: root, suffix. */}}
{{- define "hadoop-bench-operator.objectName" -}}
{{- include "hadoop-bench-operator.safeName" (printf "%s-%s" (include "hadoop-bench-operator.base" .root) .suffix) -}}
{{- end -}}

{{/*
The name of a cluster-scoped object, or of one in a namespace that several releases may share. It holds the release's
namespace, since two namespaces may have a release of the same name. Arguments: root, suffix.
*/}}
{{- define "hadoop-bench-operator.clusterName" -}}
{{- $base := include "hadoop-bench-operator.base" .root -}}
{{- include "hadoop-bench-operator.safeName" (printf "%s-%s-%s" $base .root.Release.Namespace .suffix) -}}
{{- end -}}

{{- define "hadoop-bench-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "hadoop-bench-operator.fullname" . -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- define "hadoop-bench-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "hadoop-bench-operator.name" . | quote }}
app.kubernetes.io/instance: {{ include "hadoop-bench-operator.safeName" .Release.Name | quote }}
app.kubernetes.io/component: manager
{{- end -}}

{{- define "hadoop-bench-operator.labels" -}}
{{ include "hadoop-bench-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end -}}

{{/* The reference of an image. Arguments: root, image. */}}
{{- define "hadoop-bench-operator.image" -}}
{{- $registry := default .image.registry .root.Values.global.imageRegistry -}}
{{- $name := .image.repository -}}
{{- if $registry -}}
{{- $name = printf "%s/%s" (trimSuffix "/" $registry) .image.repository -}}
{{- end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .root.Chart.AppVersion .image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The rules of a role that kustomize uses too. Arguments: root, file. */}}
{{- define "hadoop-bench-operator.rules" -}}
{{- $role := .root.Files.Get (printf "files/rbac/%s" .file) | fromYaml -}}
{{- toYaml (required (printf "the chart lacks files/rbac/%s" .file) $role.rules) -}}
{{- end -}}

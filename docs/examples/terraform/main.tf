# Runs `waypost apply` whenever the file that describes the tenant changes. The command reads the
# variables WAYPOST_URL, WAYPOST_TENANT and WAYPOST_TOKEN, so the state holds no secret.
terraform {
  required_version = ">= 1.4"
}

variable "tenant_file" {
  type    = string
  default = "tenant.yaml"
}

resource "terraform_data" "waypost" {
  triggers_replace = filesha256(var.tenant_file)

  provisioner "local-exec" {
    command = "waypost apply --file ${var.tenant_file} --yes"
  }
}

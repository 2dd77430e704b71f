import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { attributeOf, settings, source } from "./fields.ts";

type Values = { readonly [name: string]: string | number };

/** The part of the bench's manifest that Terraform is given too. */
interface Declared {
  readonly instances: {
    readonly [key: string]: {
      readonly tier: string;
      readonly component: string;
      readonly region: string;
      readonly config: Values;
    };
  };
}

/** One block for each instance, or one for all of them. */
export type Form = "blocks" | "for_each";

const lifecycle = "  lifecycle { prevent_destroy = true }\n";
const resolved: { readonly [reference: string]: string } = {
  "${var.region}": "us-east-1",
  "${var.password}": "not-a-secret",
};

/** Writes what the bench's manifest declares as a Terraform configuration, and the state of its apply if it is applied. */
export function writeProject(
  folder: string,
  manifest: string,
  form: Form,
  url: string,
  isApplied = false,
): void {
  const { instances }: Declared = parse(manifest.replaceAll("${secret.", "${var."));
  const all = Object.entries(instances).map(
    ([key, { tier, component, region, config }]): [string, Values] => {
      const set = Object.entries(config).map(([name, value]) => [attributeOf(name), value]);
      return [key, { tier, component, cloud_provider: "aws", region, ...Object.fromEntries(set) }];
    },
  );
  const head = `terraform {
  required_providers { graph = { source = "${source}" } }
}
provider "graph" { url = "${url}" }
variable "region" { default = "us-east-1" }
variable "password" { sensitive = true }
`;
  const text = form === "blocks" ? all.map(block).join("") : oneBlock(all.length);
  writeFileSync(join(folder, "main.tf"), head + text);
  if (isApplied) writeFileSync(join(folder, "terraform.tfstate"), JSON.stringify(stateOf(all, form)));
}

function block([key, values]: readonly [string, Values]): string {
  const lines = Object.entries(values).map(([name, value]) => `  ${name} = ${JSON.stringify(value)}\n`);
  return `resource "graph_instance" "${key}" {\n${lines.join("")}${lifecycle}}\n`;
}

/**
 * All instances over a map of their numbers, from which the rest is computed: a map of objects, or a set of names, takes Terraform
 * five times as long.
 */
function oneBlock(count: number): string {
  return `locals {
  numbers = tomap({ for at in range(${count}) : "graph-\${at}" => at })
}
resource "graph_instance" "all" {
  for_each = local.numbers
  tier = element(["enterprise", "pro", "startup"], each.value)
  component = element(["single-zone", "standalone", "standalone"], each.value)
  cloud_provider = "aws"
  region = var.region
  name = each.key
  description = "number \${each.value} of the bench"
  node_instance_type = element(["m7g.large", "m7g.large", null], each.value)
  max_memory = element(["6GB", null, null], each.value)
  memory_requests_and_limits = element([null, null, "2200M"], each.value)
  graphdb_user = "app"
  graphdb_password = var.password
  graph_db_cache_size = 1 + each.value % 256
  graph_db_timeout_max = 30000
${lifecycle}}
`;
}

/** The state that an apply leaves if the service numbers the instances in their order. */
function stateOf(all: readonly (readonly [string, Values])[], form: Form): object {
  const none = Object.fromEntries(Object.keys(settings).map((name) => [attributeOf(name), null]));
  const head = {
    mode: "managed",
    type: "graph_instance",
    provider: `provider["registry.terraform.io/${source}"]`,
  };
  const instances = all.map(([key, values], at) => ({
    ...(form === "for_each" ? { index_key: key } : {}),
    schema_version: 0,
    attributes: {
      ...none,
      id: `instance-${at + 1}`,
      ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolved[value] ?? value])),
    },
    sensitive_attributes: [[{ type: "get_attr", value: "graphdb_password" }]],
  }));
  const resources =
    form === "for_each"
      ? [{ ...head, name: "all", ...{ each: "map", instances } }]
      : all.map(([key], at) => ({ ...head, name: key, instances: [instances[at]] }));
  return { version: 4, terraform_version: "1.11.4", serial: 1, lineage: "bench", outputs: {}, resources };
}

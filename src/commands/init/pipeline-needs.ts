/** @module Reads from a manifest what its pipelines need: its name, its environment, and the variables of its store, its service and its own. */
import { loadProfile } from "../../hosting/profile/load-profile.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { sourceIn } from "../../manifest/secrets.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { type StoreType, stores } from "../../model/stores/index.ts";
import { typeOf } from "../../project/locate-state.ts";

/** CI services that `init` writes pipelines for. */
export type CiService = "github" | "gitlab";

export interface PipelineNeeds {
  /** Name of the manifest, in letters that fit everywhere in a pipeline. */
  readonly name: string;
  readonly environment: string | undefined;
  readonly state: StoreType;
  readonly secrets: readonly string[];
  readonly variables: readonly string[];
  /** Variables that may take the place of some of the secrets. */
  readonly instead: readonly string[];
}

/** Reads the needs of a manifest, as far as it can be read: an invalid one is found by the pipeline. */
export async function pipelineNeeds(text: string, ci: CiService): Promise<PipelineNeeds> {
  const { value = {} } = parseManifest([{ path: "graphform.yaml", text }]);
  const [section, service] = ["state", "service"]
    .map((key) => value[key])
    .map((part) => (isObject(part) ? part : {}));
  const state = typeOf(section ?? {});
  const store = { secrets: [], variables: [], instead: [], ...stores[state].pipeline(section ?? {}, ci) };
  const secrets = ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD", ...store.secrets];
  const named = [...secretVariables(value), ...usedVariables(value)];
  const known = new Set([...secrets, ...store.variables, ...store.instead]);
  const host = (await namesHost(service ?? {})) ? [] : ["GRAPHFORM_PLATFORM_URL"];
  const environment = typeof value["environment"] === "string" ? fitting(value["environment"]) : "";
  const name = typeof value["name"] === "string" ? fitting(value["name"]) : "";
  return {
    name: name === "" ? "graphform" : name,
    environment: environment === "" ? undefined : environment,
    state,
    secrets: [...secrets, ...[...new Set(named)].filter((variable) => !known.has(variable)).sort()],
    variables: [...host, ...store.variables],
    instead: store.instead,
  };
}

/** True if the manifest or its profile says at which address the service is. */
async function namesHost(service: JsonObject): Promise<boolean> {
  const { platformUrl, profile = "default" } = service;
  if (platformUrl !== undefined || typeof profile !== "string") return true;
  const found = await loadProfile(profile).catch(() => undefined);
  return found === undefined || found.platformUrl !== undefined;
}

/** A text in letters that fit everywhere in a pipeline. */
export function fitting(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, "-");
}

/** Variables of `secrets: { password: { env: NAME } }`, with one for each entry if its name holds `each.key`. */
function secretVariables(manifest: JsonObject): readonly string[] {
  const { secrets } = manifest;
  const written = isObject(secrets) ? Object.entries(secrets) : [];
  return written.flatMap(([name, secret]) => {
    const keys = [...entriesUsing(`secret.${name}[`, manifest)];
    return [undefined, ...keys].flatMap((key) => {
      const source = isObject(secret) ? sourceIn(secret, key) : undefined;
      const name = source !== undefined && "env" in source ? source.env : "";
      return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [name] : [];
    });
  });
}

/** Keys of each `forEach` that is written out, of the resources in which a text stands. */
function entriesUsing(text: string, manifest: JsonObject): ReadonlySet<string> {
  const blocks = Object.values(manifest).flatMap((section) =>
    isObject(section) ? Object.values(section) : [],
  );
  const found = blocks.flatMap((block) => {
    const { forEach = null } = isObject(block) && JSON.stringify(block).includes(text) ? block : {};
    if (Array.isArray(forEach)) return forEach.map(String);
    return isObject(forEach) ? Object.keys(forEach) : [];
  });
  return new Set(found);
}

/** Variables of `${env.NAME}` anywhere. */
function usedVariables(value: Json): readonly string[] {
  if (typeof value === "string")
    return [...value.matchAll(/\$\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}/g)].map(([, name = ""]) => name);
  if (Array.isArray(value)) return value.flatMap(usedVariables);
  return isObject(value) ? Object.values(value).flatMap(usedVariables) : [];
}

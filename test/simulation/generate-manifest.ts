import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Chance } from "../support/chance.ts";
import type { ResourceCase } from "./case.ts";
import { refsOf } from "./manifest-of.ts";

/** A manifest with what moved and was let go of on the way to it. */
export interface ManifestCase {
  readonly resources: readonly ResourceCase[];
  readonly moved: readonly (readonly [string, string])[];
  readonly released: readonly string[];
  /** The next tag. */
  readonly tag: number;
}

const names = ["a", "b", "c"];

/** A manifest of one to four resources that could have been written by hand. */
export function firstManifest(dice: Chance, networks: boolean): ManifestCase {
  let manifest: ManifestCase = { resources: [], moved: [], released: [], tag: 1 };
  const count = dice.of([1, 1, 1, 2, 2, 3, 4]);
  for (let at = 0; at < count; at++) manifest = add(manifest, dice, networks);
  return manifest;
}

/** The manifest after somebody has worked on it: mostly one change, sometimes none or two. */
export function edit(manifest: ManifestCase, dice: Chance, networks: boolean): ManifestCase {
  let edited = manifest;
  const count = dice.of([0, 1, 1, 1, 2]);
  for (let at = 0; at < count; at++) edited = editOnce(edited, dice, networks);
  return edited;
}

function editOnce(manifest: ManifestCase, dice: Chance, networks: boolean): ManifestCase {
  const { resources } = manifest;
  if (resources.length === 0 || dice.is(0.15)) return add(manifest, dice, networks);
  if (dice.is(0.02)) return { ...manifest, resources: [] };
  const chosen = dice.of(resources);
  const become = (next: ResourceCase): ManifestCase => ({
    ...manifest,
    resources: resources.map((each) => (each === chosen ? next : each)),
    tag: manifest.tag + 1,
  });
  const change = dice.of([
    "in place",
    "in place",
    "in place",
    "create-only",
    "create-only",
    "remove",
    "rename",
    "guard",
    "power",
  ]);
  switch (change) {
    case "in place":
      return become(changed(chosen, dice, manifest.tag));
    case "create-only":
      return become(replaced(chosen, dice, manifest.tag));
    case "guard":
      return become({ ...chosen, ...guards(dice) });
    case "power": {
      const power = chosen.spec["power"];
      return power === undefined
        ? manifest
        : become(with_(chosen, { power: power === "running" ? "stopped" : "running" }));
    }
    case "remove":
      return remove(manifest, chosen, dice);
    default:
      return rename(manifest, chosen, dice);
  }
}

function add(manifest: ManifestCase, dice: Chance, networks: boolean): ManifestCase {
  const { resources, tag } = manifest;
  // An address that something has moved away from stays empty.
  const taken = new Set([
    ...resources.map((resource) => resource.address),
    ...manifest.moved.map(([from]) => from),
  ]);
  const free = (section: string): string | undefined =>
    names.find((name) => !taken.has(`${section}.${name}`));
  const instances = resources.filter((resource) => resource.address.startsWith("instances."));
  const kind = dice.of([
    "instances",
    "instances",
    "instances",
    "networks",
    "cloudAccounts",
    ...(instances.length > 0 ? ["users", "users"] : []),
  ]);
  const name = free(kind);
  if (name === undefined) return manifest;
  const made = make(kind, resources, tag, dice, networks);
  const fresh: ResourceCase = { address: `${kind}.${name}`, tag, ...made, ...guards(dice) };
  const isTaken = fresh.importId !== undefined && resources.some((each) => each.importId === fresh.importId);
  return isTaken ? manifest : { ...manifest, resources: [...resources, fresh], tag: tag + 1 };
}

function make(
  kind: string,
  resources: readonly ResourceCase[],
  tag: number,
  dice: Chance,
  networks: boolean,
): Pick<ResourceCase, "spec" | "importId" | "patience"> & { readonly tag?: number } {
  const named = (section: string): readonly string[] =>
    resources.flatMap(({ address }) =>
      address.startsWith(`${section}.`) ? [address.slice(section.length + 1)] : [],
    );
  const region = dice.of(["us-east-1", "us-east-1", "eu-west-1"]);
  if (kind === "networks") {
    if (networks && dice.is(0.7))
      return { spec: { name: `net ${tag} 1`, cloudProvider: "aws", region, cidr: `10.${tag}.0.0/16` } };
    const id = `network-before-${dice.of(["a", "b"])}`;
    return { importId: id, spec: { id, cloudProvider: "aws", region: "us-east-1", name: `net ${tag} 1` } };
  }
  if (kind === "cloudAccounts") {
    const account = `${String(tag).padStart(6, "0")}000000`;
    const role = `arn:aws:iam::${account}:role/bootstrap`;
    const config = {
      aws_account_id: account,
      aws_bootstrap_role_arn: role,
      account_configuration_method: "Terraform",
    };
    return { spec: { cloudProvider: "aws", config } };
  }
  if (kind === "users") {
    const spec = {
      instance: dice.of(named("instances")),
      username: `user-${tag}`,
      password: `s3cret-${tag}-1`,
      acl: "~* +INFO +PING",
    };
    return { spec };
  }
  const settings: Record<string, Json> = { graphdbUser: "app", graphdbPassword: `s3cret-${tag}-1` };
  if (dice.is(0.5)) settings["name"] = `db ${tag}`;
  if (dice.is(0.2)) settings["description"] = describes(resources, dice);
  const base = { cloudProvider: "aws", region, power: dice.is(0.9) ? "running" : "stopped" };
  const patience = dice.is(0.1) ? { patience: Math.round(dice.scale(1000, 30_000)) } : {};
  if (dice.is(0.04) && resources.every((each) => each.importId !== "instance-before")) {
    // What nothing shows is taken as declared: the password is the one that it has.
    const config = { graphdbPassword: "s3cret-900-1" };
    return {
      tag: 900,
      importId: "instance-before",
      spec: { ...base, region: "us-east-1", tier: "startup", component: "standalone", config },
    };
  }
  const [accounts, nets] = [named("cloudAccounts"), named("networks")];
  if (accounts.length > 0 && dice.is(0.7)) {
    return {
      spec: {
        ...base,
        tier: "enterprise-byoa",
        component: "standalone",
        cloudAccount: dice.of(accounts),
        config: settings,
      },
    };
  }
  if (dice.is(0.3) || (nets.length > 0 && dice.is(0.6))) {
    const network = nets.length > 0 ? { network: dice.of(nets), networkType: "INTERNAL" } : {};
    return {
      ...patience,
      spec: {
        ...base,
        tier: "enterprise",
        component: "standalone",
        ...network,
        config: { ...settings, maxMemory: "2GB" },
      },
    };
  }
  if (dice.is(0.2)) return { spec: { ...base, tier: "free", component: "free", config: settings } };
  return {
    ...patience,
    spec: {
      ...base,
      tier: "startup",
      component: "standalone",
      config: { ...settings, memoryRequestsAndLimits: "1200M" },
    },
  };
}

/** Free text, sometimes with another object's id in it. */
function describes(resources: readonly ResourceCase[], dice: Chance): Json {
  const instance = resources.find((resource) => resource.address.startsWith("instances."));
  if (instance === undefined || dice.is(0.5)) return "first";
  return { $template: ["beside ", { $ref: `${instance.address}.id` }] };
}

function guards(dice: Chance): Pick<ResourceCase, "protect" | "onReplace" | "onDelete"> {
  return {
    ...(dice.is(0.7) ? { protect: dice.is(0.25) } : {}),
    ...(dice.is(0.6) ? { onReplace: "recreate" } : {}),
    ...(dice.is(0.05) ? { onDelete: dice.is(0.5) ? "retain" : "backup" } : {}),
  };
}

/** The same resource with a field changed that can be changed in place. */
export function changed(resource: ResourceCase, dice: Chance, version: number): ResourceCase {
  const { address, tag, spec } = resource;
  if (address.startsWith("networks.")) return with_(resource, { name: `net ${tag} ${version}` });
  if (address.startsWith("users.")) {
    return with_(
      resource,
      dice.is(0.5) ? { acl: "~* +INFO +PING +GRAPH.QUERY" } : { password: `s3cret-${tag}-${version}` },
    );
  }
  if (!address.startsWith("instances.")) return resource;
  const settings = isObject(spec["config"]) ? spec["config"] : {};
  const fields: readonly JsonObject[] = [
    { name: `db ${version}` },
    { description: `text ${version}` },
    { graphdbPassword: `s3cret-${tag}-${version}` },
    ...(spec["tier"] === "enterprise" ? [{ maxMemory: `${1 + (version % 5)}GB` }] : []),
  ];
  return with_(resource, { config: { ...settings, ...dice.of(fields) } });
}

/** The same resource with a field changed that takes a new object. */
export function replaced(resource: ResourceCase, dice: Chance, version: number): ResourceCase {
  const { address, tag, spec, importId } = resource;
  if (importId !== undefined) return resource;
  if (address.startsWith("networks.")) return with_(resource, { cidr: `10.${tag}.${version}.0/24` });
  if (address.startsWith("users.")) return with_(resource, { username: `user-${tag}-${version}` });
  if (address.startsWith("cloudAccounts.")) {
    const account = `${String(tag).padStart(6, "0")}${String(version).padStart(6, "0")}`;
    const config = {
      aws_account_id: account,
      aws_bootstrap_role_arn: `arn:aws:iam::${account}:role/bootstrap`,
      account_configuration_method: "Terraform",
    };
    return with_(resource, { config });
  }
  const settings = isObject(spec["config"]) ? spec["config"] : {};
  if (dice.is(0.2) && ["startup", "free"].includes(String(spec["tier"])))
    return ofOtherTier(resource, settings);
  if (dice.is(0.5))
    return with_(resource, { region: spec["region"] === "us-east-1" ? "eu-west-1" : "us-east-1" });
  return with_(resource, { config: { ...settings, graphdbUser: `app_${version}` } });
}

/** The same database of another tier: free ones are not protected unless somebody says so. */
function ofOtherTier(resource: ResourceCase, settings: JsonObject): ResourceCase {
  const { memoryRequestsAndLimits: _, ...common } = settings;
  return resource.spec["tier"] === "free"
    ? with_(resource, {
        tier: "startup",
        component: "standalone",
        config: { ...common, memoryRequestsAndLimits: "1200M" },
      })
    : with_(resource, { tier: "free", component: "free", config: common });
}

/** Without the resource, and without what cannot be without it. */
function remove(manifest: ManifestCase, chosen: ResourceCase, dice: Chance): ManifestCase {
  const gone = new Set([chosen.address]);
  const needs = (resource: ResourceCase): boolean =>
    refsOf(sectionOf(resource), resource.spec).some((ref) => gone.has(ref));
  for (const resource of manifest.resources) if (needs(resource)) gone.add(resource.address);
  const released = dice.is(0.1) ? [...manifest.released, chosen.address] : manifest.released;
  return { ...manifest, released, resources: manifest.resources.filter(({ address }) => !gone.has(address)) };
}

/** Under another name: said with `moved`, or not said, which means another object. */
function rename(manifest: ManifestCase, chosen: ResourceCase, dice: Chance): ManifestCase {
  const section = sectionOf(chosen);
  // A name that nothing has had: what is to move where something else stands yet would not move.
  const [from, to] = [chosen.address, `${section}.moved${manifest.tag}`];
  const isSaid = dice.is(0.7);
  const resources = manifest.resources.map((resource): ResourceCase => {
    const spec = renamedIn(resource.spec, section, from, to);
    if (resource !== chosen) return { ...resource, spec };
    // A user is what it is called: under the same name it would not be another one.
    const renamed =
      isSaid || section !== "users" ? spec : { ...spec, username: `user-${chosen.tag}-${manifest.tag}` };
    return { ...resource, address: to, spec: renamed };
  });
  return {
    ...manifest,
    tag: manifest.tag + 1,
    resources,
    moved: isSaid ? [...manifest.moved, [from, to]] : manifest.moved,
  };
}

function renamedIn(spec: JsonObject, section: string, from: string, to: string): JsonObject {
  const field = { networks: "network", cloudAccounts: "cloudAccount", instances: "instance" }[section];
  const text = JSON.stringify(spec).replaceAll(`"$ref":"${from}.id"`, `"$ref":"${to}.id"`);
  const parsed: JsonObject = JSON.parse(text);
  const isNamed = field !== undefined && parsed[field] === from.slice(section.length + 1);
  return isNamed ? { ...parsed, [field]: to.slice(section.length + 1) } : parsed;
}

function sectionOf(resource: ResourceCase): string {
  return resource.address.slice(0, resource.address.indexOf("."));
}

function with_(resource: ResourceCase, spec: JsonObject): ResourceCase {
  return { ...resource, spec: { ...resource.spec, ...spec } };
}

import { kinds } from "../../src/kinds/index.ts";
import { fieldRows, rowAt } from "../../src/model/field-schema.ts";
import type { Json } from "../../src/model/json.ts";
import type { Plan } from "../../src/model/plan.ts";
import { isReference, isTemplate } from "../../src/model/sealed.ts";
import { flatten } from "../../src/model/spec.ts";
import { sameValue } from "../../src/model/values.ts";
import type { ResourceCase, RunCase } from "./case.ts";
import type { Oracle } from "./oracle.ts";
import { isThere, type Thing } from "./thing.ts";
import type { World } from "./world.ts";

/** What must be true once a plan is empty: every declared object exists once, as declared, and nothing else of ours does. */
export function checkEnd(run: RunCase, plan: Plan, world: World, oracle: Oracle): void {
  const blocked = new Set(
    plan.changes.filter((change) => change.blocked.length > 0).map((change) => change.address),
  );
  const wanted = run.does === "destroy" ? [] : run.resources;
  const expected = new Set<string>();
  for (const resource of wanted) {
    const id = world.stored?.resources[resource.address]?.id;
    const thing = world.registry.at(id ?? "");
    if (id !== undefined) expected.add(id);
    if (blocked.has(resource.address)) continue;
    if (thing === undefined || !isThere(thing))
      oracle.violate("missing", `${resource.address} is declared, and ${id ?? "nothing"} is not there`);
    else
      for (const wrong of differences(resource, thing, world))
        oracle.violate("wrong value", `${resource.address} (${thing.id}): ${wrong}`);
  }
  for (const thing of world.registry.things) {
    if (!thing.ours || !isThere(thing) || expected.has(thing.id)) continue;
    const bound =
      Object.entries(world.stored?.resources ?? {}).find(([, entry]) => entry.id === thing.id)?.[0] ?? "";
    // A taken address stays taken: what was to move there stays where it is.
    const moved = (run.moved ?? []).reduce((at, [from, to]) => (at === from ? to : at), bound);
    if (!blocked.has(bound) && !blocked.has(moved))
      oracle.violate("left over", `${thing.id} is there, and nothing declares it`);
  }
}

/** Declared values that the object does not have, whatever the service shows of it. */
function differences(resource: ResourceCase, thing: Thing, world: World): readonly string[] {
  const schema = kinds.find(thing.kind)?.schema;
  if (schema === undefined) return [];
  if (thing.isMistaken === true) return [];
  const { top, params, status } = thing.look;
  const real: { readonly [name: string]: Json } = { ...params, ...top };
  const rows = fieldRows(schema);
  return Object.entries(flatten(resource.spec)).flatMap(([path, value]) => {
    const row = rowAt(rows, path);
    // What nothing shows of an adopted object is taken as declared (decision 8).
    if (thing.id === "instance-before" && path.startsWith("config.")) return [];
    // What it was made with is remembered by name: see docs/simulation.md, open.
    if (path === "cloudAccount" && !world.registry.options.echo) return [];
    if (path === "tier" || path === "component" || path === "id" || path === "instance") return [];
    if (path === "power") {
      const expected = value === "stopped" ? "STOPPED" : "RUNNING";
      return status === expected ? [] : [`it is ${status}`];
    }
    const name = wireNames[`${thing.kind}.${path}`] ?? path.slice(path.lastIndexOf(".") + 1);
    const found = real[name] ?? null;
    const wanted = wantedOf(value, path, world);
    const isSame = sameValue(found, wanted, row);
    return isSame ? [] : [`${path} is ${JSON.stringify(found)}, and ${JSON.stringify(wanted)} was declared`];
  });
}

const wireNames: { readonly [path: string]: string } = {
  "instances.cloudProvider": "cloud_provider",
  "instances.networkType": "network_type",
  "instances.network": "custom_network_id",
  "instances.cloudAccount": "cloud_provider_account_config_id",
  "networks.cloudProvider": "cloudProviderName",
  "networks.region": "cloudProviderRegion",
  "cloudAccounts.cloudProvider": "cloud_provider",
};

/** A name as the service knows it: the id of what stands at the address. */
function wantedOf(value: Json, path: string, world: World): Json {
  const idOf = (address: string): string => world.stored?.resources[address]?.id ?? "nothing";
  if (path === "network") return idOf(`networks.${String(value)}`);
  if (path === "cloudAccount") return `config-${idOf(`cloudAccounts.${String(value)}`)}`;
  if (!isTemplate(value)) return value;
  const parts = value.$template.map((part) =>
    isReference(part) ? idOf(part.$ref.replace(/\.id$/, "")) : String(part),
  );
  return parts.join("");
}

/** @module Proposes the change for an address that is no longer declared: its object is deleted, or let go of. */
import { type Address, twinIn } from "../model/address.ts";
import { type Disruption, fieldRows } from "../model/field-schema.ts";
import { defined } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { perObject } from "../model/once.ts";
import type { Change } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound } from "../model/state.ts";
import { hostsIn } from "../model/templates.ts";
import { specOf } from "../model/values.ts";
import { whyHeld, whyRetired } from "./migration-words.ts";
import { base, importerOf, type PlanInput, type Subject } from "./subjects.ts";

/** The change for an address that is no longer declared, and is bound or has a create in doubt: delete or forget. */
export function proposeRemoval(subject: Subject, input: PlanInput): Change {
  const removal = input.removed.find((entry) => entry.address === subject.address);
  const shared = {
    ...base(subject),
    fields: [],
    ...defined({ before: subject.observed && specOf(subject.observed), where: removal?.where }),
  };
  const forget = (reason: string): Change => ({ ...shared, action: "forget", reason, disruption: "none" });
  if (subject.bound === undefined && subject.intent !== undefined)
    return forget("no longer declared, and nothing shows what its create has made");
  if (subject.observed === undefined && subject.doubt === undefined)
    return forget("no longer declared, and gone already");
  const held = whyHeld(subject, input);
  if (held !== undefined) return { ...shared, action: "keep", reason: held, disruption: "none" };
  const importer = importerOf(subject, input);
  if (importer !== undefined) return forget(`bound to ${importer.address} from now on`);
  const released = whyReleased(subject, input);
  if (released !== undefined) return forget(released);
  const undeclared = input.destroying ? "everything of this state is removed" : "no longer declared";
  const misspelt = input.removed.find(
    ({ near }) => near !== undefined && near === subject.address.split("[")[0],
  );
  const heir = namesakesIn(input).get(nameOf(input.kinds.named(subject.kind), subject.bound?.recorded));
  const renamed =
    heir === undefined ? "" : `; ${heir} is to have its name: if it is that one, say so under moved`;
  const doubt =
    misspelt === undefined
      ? renamed
      : `; removed names ${misspelt.address}, which is not there: correct it, if it is to let go of this one`;
  const reason = whyRetired(subject, input) ?? `${undeclared}${doubt}`;
  return {
    ...shared,
    action: "delete",
    reason: removal?.reason ?? reason,
    disruption: lossOf(subject.address, subject.kind, input),
  };
}

/** Declared addresses without an object, by the names that their objects are to have. */
const namesakesIn = perObject(({ desired, state, kinds }: PlanInput): ReadonlyMap<string, Address> => {
  const named = desired.map(({ address, kind, spec }) => [nameOf(kinds.named(kind), spec), address] as const);
  return new Map(
    named.filter(([name, address]) => name !== "" && state.resources[address] === undefined).sort(),
  );
});

/** The kind and the name of an object; empty if it has no name. */
function nameOf({ name: kind, schema }: Kind, spec: Spec = {}): string {
  const [path = ""] = [...fieldRows(schema)].find(([, row]) => row["x-identity"]) ?? [];
  return typeof spec[path] === "string" ? `${kind} ${spec[path]}` : "";
}

/** The disruption of a deletion. The twin that has no address yet holds a copy at most, unless that is not proved. */
export function lossOf(address: Address, kind: string, { kinds, immovable }: PlanInput): Disruption {
  if (!kinds.named(kind).holdsData) return "downtime";
  return twinIn(address) === "next" && immovable?.has(address) !== true ? "none" : "data-loss";
}

/** The reason to let go of an object and to leave it as it is; undefined if it is deleted. */
function whyReleased(subject: Subject, input: PlanInput): string | undefined {
  const removal = input.removed.find((entry) => entry.address === subject.address);
  if (removal?.destroy === false) return removal.reason ?? "let go of, and left as it is";
  if (subject.bound?.onDelete === "retain") return "no longer declared; onDelete: retain leaves it running";
  const kind = input.kinds.named(subject.kind);
  if (input.profile.operations[kind.operations.delete] === undefined)
    return `profile ${input.profile.name} has no operation to delete a ${kind.noun}: it is let go of and stays`;
  // A block that is left out says of itself only that it is not wanted here.
  const isWished = removal !== undefined && removal.lifecycle === undefined;
  const host = isWished ? undefined : releasedHost(subject.kind, subject.bound, input);
  return host && `${host} is let go of and left as it is, with what is inside`;
}

/** The object that an object is inside of, if that one is let go of and left as it is. */
export function releasedHost(kind: string, bound: Bound | undefined, input: PlanInput): Address | undefined {
  if (bound === undefined) return undefined;
  const hosts = hostsIn(input.kinds.named(kind).schema, bound.recorded);
  return hosts.find(({ address, section }) => {
    const [binding, observed] = [input.state.resources[address], input.observed.get(address)];
    if (binding === undefined || observed === undefined) return false;
    const host: Subject = { address, kind: section, bound: binding, observed };
    if (input.desired.some((entry) => entry.address === address)) return false;
    const isKept = whyHeld(host, input) ?? importerOf(host, input);
    return isKept === undefined && whyReleased(host, input) !== undefined;
  })?.address;
}

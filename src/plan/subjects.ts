import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Move } from "../model/manifest.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import type { PlanInput } from "./input.ts";
import type { Subject } from "./propose.ts";

/** Every address that the plan has to say something about, with what is known of it. */
export function subjectsOf(input: PlanInput): readonly Subject[] {
  const previous = previousAddresses(input.state, input.moved);
  const desired = new Map(input.desired.map((entry): [Address, Desired] => [entry.address, entry]));
  const bound = new Map(Object.entries(input.state.resources).map(([from, entry]): [Address, Bound] => [previous.to.get(from) ?? from, entry]));
  const addresses = [...new Set([...desired.keys(), ...bound.keys()])].filter((address) => isChosen(address, input));
  return addresses.map((address) => subjectAt(address, desired.get(address), bound.get(address), previous.from.get(address), input));
}

function subjectAt(
  address: Address,
  desired: Desired | undefined,
  bound: Bound | undefined,
  previousAddress: Address | undefined,
  input: PlanInput,
): Subject {
  const observed = input.observed.get(address);
  return {
    address,
    kind: desired?.kind ?? bound?.kind ?? "",
    ...(previousAddress === undefined ? {} : { previousAddress }),
    ...(desired === undefined ? {} : { desired }),
    ...(bound === undefined ? {} : { bound }),
    ...(observed === undefined ? {} : { observed }),
  };
}

/** Moves that still have something to do: the old address is bound and the new one is free. */
function previousAddresses(
  state: StateDocument,
  moved: readonly Move[],
): { readonly to: ReadonlyMap<Address, Address>; readonly from: ReadonlyMap<Address, Address> } {
  const open = moved.filter((move) => state.resources[move.from] !== undefined && state.resources[move.to] === undefined);
  return {
    to: new Map(open.map((move) => [move.from, move.to])),
    from: new Map(open.map((move) => [move.to, move.from])),
  };
}

/** --target and --exclude choose what is looked at; they change the input and never filter the output. */
function isChosen(address: Address, input: PlanInput): boolean {
  const { targets, exclude } = input.options;
  if (exclude.some((entry) => within(address, entry))) return false;
  return targets.length === 0 || withReferents(targets, input).has(address);
}

function withReferents(targets: readonly Address[], input: PlanInput): ReadonlySet<Address> {
  const refs = new Map(input.desired.map((entry) => [entry.address, entry.refs]));
  const known = [...refs.keys(), ...Object.keys(input.state.resources)];
  const chosen = new Set(known.filter((address) => targets.some((target) => within(address, target))));
  for (const address of chosen) for (const ref of refs.get(address) ?? []) chosen.add(ref);
  return chosen;
}

/** An address without a key stands for all of its forEach members. */
function within(address: Address, entry: Address): boolean {
  return address === entry || address.startsWith(`${entry}[`);
}

/** @module Guards against deleting an object whose protection at the service is on. */
import type { Change, Guard } from "../../model/plan.ts";
import { traitAt, traitsOf } from "../../model/traits.ts";
import type { PlanInput } from "../input.ts";
import type { Subject } from "../subject.ts";
import { destroys } from "./destroys.ts";

/**
 * The guard against a deletion that the service would refuse. It is lifted at the service, by an update that somebody
 * declared and applied: never on the way.
 */
export function keptByServiceGuard(
  change: Pick<Change, "action" | "kind" | "address">,
  { observed }: Subject,
  { kinds }: Pick<PlanInput, "kinds">,
): Guard | undefined {
  if (observed === undefined || !destroys(change)) return undefined;
  const { kind, address } = change;
  const traits = traitsOf(kinds.named(kind).schema);
  const keeping = Object.entries(observed.spec).find(
    ([path, { value }]) => traitAt(traits, path).keeps && String(value) === "true",
  );
  if (keeping === undefined) return undefined;
  const [path] = keeping;
  return {
    code: "kept-by-service",
    message: `${path} is on: the service refuses to delete it`,
    lift: `declare ${path}: false for ${address} and nothing else, and apply that first`,
  };
}

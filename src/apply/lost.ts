import type { Address } from "../model/address.ts";
import { couldBe, isTimely, unclaimed } from "../model/candidates.ts";
import { GraphformError } from "../model/errors.ts";
import type { Live, Phase } from "../model/observed.ts";
import { referenceFields } from "../model/reference-fields.ts";
import type { Intent } from "../model/state.ts";
import type { ApplyContext } from "./context.ts";
import { driverOf, kindOf } from "./context.ts";

/** Everything that looking for a lost object needs; apply and the next run both have it. */
export type SearchContext = Pick<
  ApplyContext,
  "kinds" | "drivers" | "profile" | "clock" | "journal" | "stopping"
>;

/**
 * Finds the object of a create whose answer was lost: by listing, never by asking again. Looks until `until`
 * (ms since 1970), since a new object may be absent from lists for a while.
 *
 * Resolves with undefined where there is none. Throws `create-ambiguous` (exit 1) where there are several.
 */
export async function findLost(
  address: Address,
  intent: Intent,
  until: number,
  context: SearchContext,
): Promise<Live | undefined> {
  const { clock, profile } = context;
  const firstSeen = new Map<string, number>();
  let pause = profile.timing.poll.first;
  for (;;) {
    const found = await candidates(intent, context);
    const now = clock.now();
    for (const { id } of found) if (!firstSeen.has(id)) firstSeen.set(id, now);
    const isOpen = (live: Live): boolean =>
      live.phase === notDescribed && now - (firstSeen.get(live.id) ?? now) < profile.timing.listLag;
    if (!found.some(isOpen)) {
      // What is listed and never described is the trace of something that is gone.
      const described = found.filter((live) => live.phase !== notDescribed);
      const [only, ...others] = described.filter((live) => isTimely(live, intent));
      if (only !== undefined && others.length > 0) throw ambiguous(address, [only, ...others]);
      if (only !== undefined) return only;
      if (now >= until) {
        // New here, and older than the create by what it says: a wrong clock or somebody else's, nobody can tell.
        if (described.length > 0) throw doubtful(address, described);
        return undefined;
      }
    }
    await clock.sleep(now < until ? Math.min(until - now, pause) : pause, context.stopping);
    pause = Math.min(profile.timing.poll.longest, pause * 2);
  }
}

/**
 * True where what the object was to be found through is there no more: it went with it, and asking for it there may
 * bring nothing but errors.
 */
export async function isHomeGone(intent: Intent, context: SearchContext): Promise<boolean> {
  const { schema } = kindOf(context, intent.kind);
  const through = referenceFields(schema).filter((field) => field.place && field.output === "id");
  const gone = through.map(async ({ path, section }) => {
    const bound = Object.values(context.journal.state.resources).find(
      ({ kind, id }) => kind === section && id === intent.place[path],
    );
    return (
      bound === undefined || (await driverOf(context, section).get(bound, context.stopping)) === undefined
    );
  });
  return (await Promise.all(gone)).includes(true);
}

async function candidates(intent: Intent, context: SearchContext): Promise<readonly Live[]> {
  const driver = driverOf(context, intent.kind);
  const ids = unclaimed(intent, await driver.list(intent.place, context.stopping), context.journal.state);
  const { schema } = kindOf(context, intent.kind);
  const lives = await Promise.all(
    ids.map(async (id) => (await driver.get({ id, place: intent.place }, context.stopping)) ?? unseen(id)),
  );
  return lives.filter((live) => couldBe(live, intent, schema));
}

const notDescribed: Phase = { is: "pending", detail: "listed, not described yet" };

/** Listed, but describe does not know it yet: nothing speaks against it, and while there is time nothing for it. */
function unseen(id: string): Live {
  return { id, phase: notDescribed, spec: {}, outputs: {} };
}

function ambiguous(address: Address, found: readonly Live[]): GraphformError {
  const ids = found.map((live) => live.id).join(", ");
  return new GraphformError(
    "create-ambiguous",
    `the answer to the create of ${address} was lost, and several new objects could be it: ${ids}`,
    {
      hint: wayOut(address),
    },
  );
}

function doubtful(address: Address, found: readonly Live[]): GraphformError {
  const ids = found.map((live) => `${live.id} (created ${live.createdAt})`).join(", ");
  return new GraphformError(
    "create-ambiguous",
    `the answer to the create of ${address} was lost, and what appeared since says that it is older than that: ${ids}`,
    { hint: wayOut(address) },
  );
}

function wayOut(address: Address): string {
  return (
    `look at them, then bind the right one: graphform import '${address}' ID; ` +
    `or, if it is none of them: graphform state rm '${address}'`
  );
}

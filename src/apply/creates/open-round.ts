/** @module Opens a round: one list of a place, made before the creates of the round are sent. */
import type { Step } from "../../model/plan.ts";
import type { CreateRound } from "../../model/state.ts";
import { type ApplyContext, driverOf } from "../context.ts";

/** A round that creates can join, and the id that their intents name it by. */
export interface OpenRound {
  readonly id: string;
  readonly round: CreateRound;
}

/** Lists the place of a step for all creates of a class that will be in flight together. */
export async function openRound(
  classKey: string,
  { kind, place }: Pick<Step, "kind" | "place">,
  context: Pick<ApplyContext, "clock" | "drivers" | "journal" | "stopping">,
): Promise<OpenRound> {
  const before = await driverOf(context, kind).list(place, context.stopping);
  return { id: newRoundId(classKey, context), round: { kind, place, classKey, before } };
}

function newRoundId(classKey: string, { clock, journal }: Pick<ApplyContext, "clock" | "journal">): string {
  const id = `${classKey} ${new Date(clock.now()).toISOString()}`;
  return Object.hasOwn(journal.state.rounds, id) ? `${id} ${journal.state.serial}` : id;
}

/** @module Reads the audit events of instances. */
import { isObject } from "../model/json.ts";
import type { Reads } from "../model/service.ts";

/** Something that was done to an instance. */
export interface InstanceEvent {
  /** ISO 8601, as the service writes it; empty where it shows none. */
  readonly time: string;
  readonly message: string;
  /** Absent where the service did it by itself, or does not say. */
  readonly user?: string;
}

/** Lists the events of an instance, newest first; none where the service shows none. */
export async function instanceEvents(
  service: Reads,
  id: string,
  signal: AbortSignal,
): Promise<readonly InstanceEvent[]> {
  const { items } = (await service.read({ operation: "instance.events", params: { id } }, signal)).values;
  const shown = Array.isArray(items) ? items.filter(isObject) : [];
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return shown
    .map(({ time, message, userName }) => ({
      time: text(time),
      message: text(message),
      ...(text(userName) === "" ? {} : { user: service.hide(text(userName)) }),
    }))
    .sort((left, right) => right.time.localeCompare(left.time));
}

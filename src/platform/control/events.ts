/** @module Keeps the recent events of instances in memory. */
export interface PlatformEvent {
  readonly id: number;
  readonly time: string;
  readonly instanceId: string;
  readonly message: string;
  readonly isFailure: boolean;
}

export interface Events {
  add(instanceId: string, message: string, isFailure?: boolean): void;
  /** Events of one instance or of all, latest first. */
  recent(instanceId?: string): readonly PlatformEvent[];
  /** Calls `listener` after each event; returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

const kept = 500;

export function createEvents(now: () => number): Events {
  let events: PlatformEvent[] = [];
  let last = 0;
  const listeners = new Set<() => void>();
  return {
    add(instanceId, message, isFailure = false) {
      last += 1;
      events = [
        { id: last, time: new Date(now()).toISOString(), instanceId, message, isFailure },
        ...events,
      ].slice(0, kept);
      for (const listener of listeners) listener();
    },
    recent: (instanceId) =>
      events.filter((event) => instanceId === undefined || event.instanceId === instanceId),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

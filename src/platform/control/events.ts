/** Something that happened to an instance, for the page and for audit. */
export interface PlatformEvent {
  readonly id: number;
  readonly time: string;
  readonly instanceId: string;
  readonly message: string;
  readonly isFailure: boolean;
}

/** The recent events of this run, and those who want to hear of the next ones. */
export interface Events {
  add(instanceId: string, message: string, isFailure?: boolean): void;
  /** Latest first; of one instance, or of all. */
  recent(instanceId?: string): readonly PlatformEvent[];
  /** Calls back after each event; answers how to stop. */
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

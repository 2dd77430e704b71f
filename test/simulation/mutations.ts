/** A safety rule of the engine, and how to break it: in the text of a module as it is loaded, never on the disk. */
export interface Mutation {
  readonly name: string;
  /** What the engine does not do any more. */
  readonly breaks: string;
  readonly changes: readonly Change[];
}

export interface Change {
  /** Below src. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** One safety rule each. The simulator must find every one of them. */
export const mutations: readonly Mutation[] = [
  {
    name: "no-intent",
    breaks: "the intent is durable before a create is sent",
    changes: [
      { file: "apply/create.ts", find: "await context.journal.announce(step.address, intent);", replace: "" },
    ],
  },
  {
    name: "lost-is-nothing",
    breaks: "a lost create is looked for before it is sent again",
    changes: [
      {
        file: "apply/lost.ts",
        find: "const firstSeen = new",
        replace: "return undefined; const firstSeen = new",
      },
    ],
  },
  {
    name: "one-look",
    breaks: "a lost create is looked for as long as lists may lag",
    changes: [
      { file: "apply/create.ts", find: "context.clock.now() + wait", replace: "context.clock.now()" },
      {
        file: "reconcile.ts",
        find: "await findLost(address, intent, until, context)",
        replace: "await findLost(address, intent, 0, context)",
      },
    ],
  },
  {
    name: "late-acknowledgement",
    breaks: "the id is recorded the moment the answer arrives",
    changes: [
      {
        file: "apply/create.ts",
        find: "if (id !== undefined) {\n      await acknowledge(step, id, context);",
        replace: "if (id !== undefined) {",
      },
      {
        file: "apply/create.ts",
        find: 'return settle(placed, { id, place: placed.place }, "create", undefined, context);',
        replace:
          'const end = await settle(placed, { id, place: placed.place }, "create", undefined, context); await acknowledge(placed, id, context); return end;',
      },
    ],
  },
  {
    name: "classes-at-once",
    breaks: "at most one unacknowledged create per class is in flight",
    changes: [{ file: "apply/one-at-a-time.ts", find: "before.then(work, work)", replace: "work()" }],
  },
  {
    name: "anything-could-be-it",
    breaks: "what is adopted shows nothing that speaks against it",
    changes: [
      {
        file: "model/candidates.ts",
        find: "return Object.entries(live.spec).every(",
        replace: "return true || Object.entries(live.spec).every(",
      },
    ],
  },
  {
    name: "before-forgotten",
    breaks: "what was listed before a create is not taken for it",
    changes: [{ file: "model/candidates.ts", find: "!before.has(id) && ", replace: "" }],
  },
  {
    name: "young-is-gone",
    breaks: "a new object may be missing for a while",
    changes: [{ file: "observe/observe.ts", find: " && !young)", replace: ")" }],
  },
  {
    name: "first-running",
    breaks: "an unchanged status counts only after the settling time",
    changes: [
      {
        file: "apply/converge.ts",
        find: "if (!changed && !watch.moved && age <",
        replace: "if (false && age <",
      },
    ],
  },
  {
    name: "guards-ignored",
    breaks: "a blocked step is not carried out",
    changes: [
      {
        file: "apply/run.ts",
        find: "if (guard !== undefined) return",
        replace: "if (guard !== undefined && guard.code === '') return",
      },
    ],
  },
  {
    name: "guard-in-the-block",
    breaks: "a guard outlives its block in the manifest",
    changes: [{ file: "plan/guard.ts", find: "return bound?.protect ?? true;", replace: "return false;" }],
  },
  {
    name: "replaced-unasked",
    breaks: "what holds data is replaced only where somebody says so",
    changes: [
      {
        file: "plan/guard.ts",
        find: "if (input.options.replace.includes(change.address)) return false;",
        replace: "return false;",
      },
    ],
  },
  {
    name: "no-precondition",
    breaks: "a step is refused where its decision no longer holds",
    changes: [
      {
        file: "apply/precondition.ts",
        find: "return context.digest(preconditionText(named, step.checks)) !== step.precondition;",
        replace: "return false;",
      },
    ],
  },
  {
    name: "released-while-going",
    breaks: "a binding is released only once its object is gone",
    changes: [
      {
        file: "apply/remove.ts",
        find: 'const end = await settle(step, ref, "delete", underWay ? "first-look" : now, context);',
        replace: 'const end = { result: "done" as const, id: ref.id };',
      },
    ],
  },
  {
    name: "secret-recorded",
    breaks: "secrets are recorded as fingerprints",
    changes: [
      {
        file: "apply/create.ts",
        find: "const recorded = { ...step.record, ...recordOf(spec, context) };",
        replace:
          "const recorded = { ...step.record, ...recordOf(bindSpec(step.kind, spec, context), context) };",
      },
    ],
  },
  {
    name: "intents-left-open",
    breaks: "the next run resolves open intents before it plans",
    changes: [
      {
        file: "reconcile.ts",
        find: "Object.entries(world.journal.state.intents)",
        replace: "Object.entries({} as typeof world.journal.state.intents)",
      },
    ],
  },
  {
    name: "everybody-signs-in",
    breaks: "a session is renewed once for all who wait",
    changes: [{ file: "hosting/session.ts", find: "underWay ??= renew()", replace: "underWay = renew()" }],
  },
  {
    name: "sent-blindly",
    breaks: "a write is sent again only where it surely did nothing",
    changes: [
      {
        file: "hosting/persist.ts",
        find: 'return !error.mayHaveWorked && ["unavailable", "rate-limited"]',
        replace: 'return ["unavailable", "rate-limited", "lost"]',
      },
    ],
  },
  {
    name: "pause-of-one",
    breaks: "a Retry-After slows everybody down, not only the one who got it",
    changes: [
      {
        file: "hosting/host-pace.ts",
        find: "const quietUntil = Math.max(host.quietUntil, now + Math.max(pauses.least, retryAfter ?? own));",
        replace: "const quietUntil = host.quietUntil + 0 * own;",
      },
    ],
  },
];

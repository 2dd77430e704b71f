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
        find: 'return await settle(placed, { id, place: placed.place }, "create", undefined, context);',
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
        find: "return context.digest(preconditionText(named, step.checks, applied)) !== step.precondition;",
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
        find: "return { ...step.record, ...recordOf(step.spec ?? {}, context) };",
        replace:
          "return { ...step.record, ...recordOf(bindSpec(step.kind, step.spec ?? {}, context), context) };",
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
        find: "const quietUntil = Math.max(host.quietUntil, now + Math.max(pauses.least, refusal.retryAfter ?? own));",
        replace: "const quietUntil = host.quietUntil + 0 * own;",
      },
    ],
  },
  {
    name: "plan-twice",
    breaks: "a saved plan runs once",
    changes: [
      {
        file: "reconcile.ts",
        find: "if (planned.plan.steps.length > 0) await world.journal.burn(planned.plan.fingerprint);",
        replace: "",
      },
    ],
  },
  {
    name: "empty-manifest",
    breaks: "an empty manifest is refused where the state is not empty",
    changes: [
      {
        file: "plan/guard.ts",
        find: "if (input.desired.length === 0 && !input.destroying && input.options.targets.length === 0) {",
        replace: "if (input.desired.length < 0) {",
      },
    ],
  },
  {
    name: "no-threshold",
    breaks: "no more is destroyed than the thresholds allow",
    changes: [
      {
        file: "plan/guard.ts",
        find: "    deletes.length > input.guards.maxDeletes\n",
        replace: "    deletes.length > 1000 + input.guards.maxDeletes\n",
      },
    ],
  },
  {
    name: "no-backup",
    breaks: "what is to be backed up first is not deleted without",
    changes: [
      {
        file: "apply/save-first.ts",
        find: 'return rule === "backup" && kindOf(context, step.kind).holdsData;',
        replace: 'return rule === "never";',
      },
    ],
  },
  {
    name: "stop-ignored",
    breaks: "after Ctrl-C nothing new is begun",
    changes: [
      {
        file: "apply/run.ts",
        find: 'if (context.stopping.aborted) return outcome({ result: "interrupted", message: "not started" });',
        replace: "",
      },
    ],
  },
  {
    name: "failed-is-done",
    breaks: "FAILED is no success",
    changes: [
      {
        file: "apply/converge.ts",
        find: 'if (live.phase.is === "failed" && !isOld) return { is: "failed", live, detail: live.phase.detail };',
        replace: 'if (live.phase.is === "failed" && !isOld) return { is: "arrived", live };',
      },
    ],
  },
  {
    name: "not-pinged",
    breaks: "a database is usable once it answers",
    changes: [
      {
        file: "apply/settle.ts",
        find: "const usable = await untilUsable(step, ref, arrival.live, left, context);",
        replace: 'const usable = { result: "done" as const };\n      void untilUsable;\n      void left;',
      },
    ],
  },
  {
    name: "timeout-lets-go",
    breaks: "a timeout ends the waiting and nothing else",
    changes: [
      {
        file: "apply/settle.ts",
        find: '    case "timeout":\n      return {',
        replace: '    case "timeout":\n      await context.journal.release(step.address);\n      return {',
      },
    ],
  },
  {
    name: "failed-let-go",
    breaks: "what has failed stays bound, and is neither replaced nor forgotten",
    changes: [
      {
        file: "apply/settle.ts",
        find: "await context.journal.unsettled(step.address);",
        replace: "await context.journal.release(step.address);",
      },
    ],
  },
  {
    name: "lost-is-done",
    breaks: "an update whose answer was lost is not taken for done",
    changes: [
      {
        file: "apply/change.ts",
        find: '    return "again";\n  };\n  const last',
        replace: '    return "accepted";\n  };\n  const last',
      },
      {
        file: "apply/change.ts",
        find: 'return isSilent ? "unproven" : "again";',
        replace: 'return "accepted";',
      },
    ],
  },
  {
    name: "first-of-several",
    breaks: "where several objects could be the lost one nothing is guessed",
    changes: [
      {
        file: "apply/lost.ts",
        find: "if (only !== undefined && others.length > 0) throw ambiguous(address, [only, ...others]);",
        replace: "void others;",
      },
    ],
  },
  {
    name: "wrong-order",
    breaks: "what holds others goes after them",
    changes: [
      {
        file: "plan/order.ts",
        find: "if (!isAfter(earlier, later, after)) after.get(later)?.add(earlier);",
        replace: "void isAfter(earlier, later, after);",
      },
    ],
  },
  {
    name: "hasty-replacement",
    breaks: "what a new object needs is there before the old one is deleted",
    changes: [
      {
        file: "plan/order.ts",
        find: "[...removals(steps, heldBy), ...renewals(steps, building)]",
        replace: "removals(steps, heldBy)",
      },
    ],
  },
  {
    name: "misfit",
    breaks: "a step is for the object that its plan was made for",
    changes: [
      {
        file: "apply/run.ts",
        find: "if (misfit !== undefined) return",
        replace: "if (misfit === '') return",
      },
    ],
  },
];

import type { Case } from "./case.ts";
import { adopted, apply, database, door, enterprise, service, stopped, user } from "./case-parts.ts";

/** Cases that broke a promise once, shrunken, and what was wrong. */
export interface Regression {
  readonly was: string;
  readonly case: Case;
}

export const regressions: readonly Regression[] = [
  {
    was: "a database that somebody stopped while it was waited for was waited for ever after",
    case: {
      seed: 786,
      service: service({ describeLag: 4133 }),
      runs: [
        apply([database(2)], { crash: 30 }),
        apply([database(2)], { others: [{ at: 0, does: "stop", pick: 1 }] }),
      ],
    },
  },
  {
    was: "what failed while it was stopped, or before, was taken for stopped",
    case: {
      seed: 415,
      service: service(),
      runs: [apply([stopped(database(1))], { faults: [{ on: "verb", nth: 1, effect: "fails" }] })],
    },
  },
  {
    was: "an adopted network under a new name was deleted under its old one",
    case: {
      seed: 774,
      service: service(),
      runs: [apply([adopted("networks.a")]), apply([adopted("networks.b")])],
    },
  },
  {
    was: "an adopted network that was to be replaced was replaced again and again, since no new one has its id",
    case: {
      seed: 3332,
      service: service(),
      runs: [apply([adopted("networks.a")], { replace: ["networks.a"] })],
    },
  },
  {
    was: "what moved and was then removed could not be destroyed",
    case: {
      seed: 692,
      service: service(),
      runs: [
        apply([database(1, {}, { protect: false })]),
        { does: "destroy", resources: [], moved: [["instances.a", "instances.b"]] },
      ],
    },
  },
  {
    was: "the users that a killed run had begun to create could not be told from each other",
    case: {
      seed: 2536,
      service: service(),
      runs: [
        apply([stopped(database(1)), user(2, "users.a"), user(3, "users.b"), user(4, "users.c")], {
          crash: 49,
        }),
      ],
    },
  },
  {
    was: "users of an instance that is gone stopped every further plan, where the users host answers 500",
    case: {
      seed: 2668,
      service: service({ usersOfNobody: 500, work: 15_470 }),
      runs: [
        apply([stopped(database(1)), user(2, "users.a")], { crash: 63 }),
        apply([stopped(database(1)), user(2, "users.a")], { others: [{ at: 0, does: "delete", pick: 0 }] }),
      ],
    },
  },
  {
    was: "somebody's new database was adopted because describe did not know it yet",
    case: {
      seed: 1,
      service: service({ describeLag: 23_062 }),
      runs: [
        apply([database(1, { name: "db 1" })], { crash: 10 }),
        apply([database(1, { name: "db 1" })], {
          later: 22_317,
          others: [{ at: 11, does: "create", pick: 3 }],
        }),
      ],
    },
  },
  {
    was: "a create that was never sent, because its intent could not be written, got the object of the next one",
    case: {
      seed: 1,
      service: service(),
      runs: [
        apply([database(1), database(3, { name: "db 3" }, { address: "instances.c" })], {
          faults: [{ on: "state", nth: 2, effect: "unwritable" }],
          crash: 15,
        }),
      ],
    },
  },
  {
    was: "a database that describe did not know yet was not deleted, and then created a second time",
    case: {
      seed: 49_176,
      service: service({ describeLag: 13_986 }),
      runs: [
        apply([database(1)], { crash: 36 }),
        apply([database(1, { graphdbUser: "app_3" })], { stop: 13, allowDestroy: ["instances.a"] }),
      ],
    },
  },
  {
    was: "the id of a database that was not shown yet was not known to what refers to it",
    case: {
      seed: 10_959,
      service: service({ describeLag: 15_228 }),
      runs: [
        apply([
          database(1, {}, { onReplace: "recreate", protect: false }),
          database(
            2,
            { description: { $template: ["beside ", { $ref: "instances.a.id" }] } },
            { address: "instances.b" },
          ),
        ]),
        apply(
          [
            database(1, { graphdbUser: "app_5" }, { onReplace: "recreate", protect: false }),
            database(
              2,
              { description: { $template: ["beside ", { $ref: "instances.a.id" }] } },
              { address: "instances.b" },
            ),
          ],
          { crash: 34 },
        ),
      ],
    },
  },
  {
    was: "a page of HTML in place of the empty answer to an update was taken for yes",
    case: {
      seed: 610,
      service: service({ echo: false, wire: door({}) }),
      runs: [
        apply([database(1, { description: "first" })]),
        apply([database(1, { description: "second" })], {
          faults: [{ on: "update", nth: 1, effect: "nonsense-before" }],
        }),
      ],
    },
  },
  {
    was: "who had waited for the session asked again in the middle of a pause that the service had asked for",
    case: {
      seed: 101_584,
      service: service({
        wire: door({ tokenLife: 4198, refreshLife: 3724, perSecond: 10, atOnce: 1, retryAfter: 18 }),
      }),
      runs: [
        apply([database(1, {}, { spec: enterprise(1) }), user(3, "users.b"), user(4, "users.c")], {
          faults: [{ on: "create", nth: 2, effect: "unauthorized" }],
        }),
      ],
    },
  },
];

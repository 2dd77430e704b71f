/** @module Names every reason for which data cannot be moved, or may not be trusted after it was, with the way out of each. */
import { GraphformError } from "../../model/errors.ts";

/** The ways out, by the code of the reason. */
const remedies = {
  cluster: "move the data by a backup that is restored into a new database, or by an export and a load",
  "not-a-copy":
    "put a newer version of the state back, if there is one (graphform state history); or, if the new database is the one in use, graphform state rm of ADDRESS~next and of ADDRESS, and then graphform import of its id to ADDRESS; or, if all that it has may be lost, delete it at the service, and apply again",
  "unknown-replica": "wait until the service lists every node of the database, and run it again",
  "engine-older": "choose a version of the engine that is not older than that of the data",
  "engine-across-majors": "upgrade the database first, and replace it when both have the same major version",
  "target-too-small": "choose a larger instance type for the new database, or delete data that is not needed",
  "target-too-full": "choose a larger instance type for the new database",
  "target-unsafe": "look at the new database: it must keep what it has acknowledged",
  unsaved: "take a tier that has backups, or let the service make one: a crash would lose what is moved",
  "source-memory": "free memory of the database, or give it more, so that its largest value can be copied",
  "value-too-large": "split the graph, or export and load it",
  "constraint-failed": "drop the constraint; it can be made anew once no data breaks it",
  "under-construction": "wait until it is operational, or drop it",
  "graph-name-twice": "rename one of the two graphs: the engine restores only one graph of a name",
  "key-type": "delete the keys, or move them by hand",
  "key-not-readable": "give the user the right to DUMP every key",
  "right-missing": "give the user of the database the right to run the command",
  "paused-already": "wait until the pause of the other client has ended",
  "not-settled":
    "run it again when no constraint is under construction, no snapshot is saved and no long write runs",
  "not-idle": "run it again when fewer or shorter queries run",
  "replica-behind": "run it again when the replicas have caught up",
  "freeze-lost": "run it again",
  "graph-ends-server":
    "run it again; if the same graph ends it again, the graph is damaged: property keys of a query that failed half-way were mistaken for others when the database was started. Delete it and load it anew, or restore a backup. The old database stays in use: graphform replace undo ADDRESS lets it take writes if it does not, and the change taken back in the manifest ends the migration",
  "copy-refused": "see the reason of the database; both databases are kept",
} as const;

export type RefusalCode = keyof typeof remedies;

/** The reason for which the work cannot go on. Checks and proofs return it, work ends by throwing it, and `Freeze.lost` is aborted with it. A failed connection is a DatabaseError instead. */
export class Refused extends GraphformError {
  override readonly name = "Refused";
  declare readonly hint: string;

  constructor(code: RefusalCode, message: string) {
    super(code, message, { hint: remedies[code] });
  }
}

/** A reason as people read it. */
export type Reason = Pick<Refused, "message" | "hint">;

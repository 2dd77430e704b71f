/**
 * The files that `npm test` leaves to `npm run test:all`: what each proves beyond the files that run always. Together
 * they take three times as long as all the others.
 */
export const long: { readonly [file: string]: string } = {
  "test/apply/crash.test.ts": "an apply killed at every request and every write",
  "test/commands/import-shapes.test.ts": "imports of every shape of an answer",
  "test/controller/serve/embedded.test.ts":
    "an embedded PostgreSQL that is killed, and started again on its files",
  "test/controller/sources/hostile.test.ts": "repositories that try to run, read or send something",
  "test/controller/failover.test.ts": "failovers of PostgreSQL in the middle of runs",
  "test/controller/restored.test.ts": "a copy of the database put back in the middle of runs",
  "test/controller/survival.test.ts":
    "workers that are killed, stopped and ended, and a database that is away",
  "test/cuts/cuts.test.ts": "the packaged program killed at requests and writes",
  "test/e2e/byoa.test.ts": "accounts of one's own, with their waits",
  "test/e2e/every-field.test.ts": "each field of each tier, by hand and back",
  "test/e2e/everything-falkordb-cloud.test.ts": "everything at once in the vendor's dialect",
  "test/e2e/examples.test.ts": "every example applied with real databases",
  "test/e2e/killed-migration.test.ts": "moves of a state killed half-way",
  "test/e2e/local-faults.test.ts": "every fault of the local platform",
  "test/e2e/lost-document.test.ts": "a state lost in the middle of a run",
  "test/e2e/odd-services.test.ts": "services with odd habits",
  "test/e2e/output-places.test.ts": "full disks, closed pipes, devices and links under each output",
  "test/e2e/pipelines-github.test.ts": "generated GitHub workflows, played",
  "test/e2e/pipelines-gitlab.test.ts": "generated GitLab pipelines, played",
  "test/e2e/probed-databases.test.ts": "databases that refuse, lie or stall while they are asked",
  "test/e2e/random-cloud.test.ts": "random services in the vendor's dialect",
  "test/e2e/replacement.test.ts":
    "the example of a replacement, over TLS and replicas, with its content compared",
  "test/e2e/shared-state/history.test.ts": "the history of a stored state",
  "test/e2e/shared-state/http.test.ts": "jobs that share a state over HTTP",
  "test/e2e/shared-state/hurried.test.ts": "a job that is interrupted twice while its store hangs",
  "test/e2e/shared-state/lease.test.ts": "a lease that runs out",
  "test/e2e/shared-state/postgres.test.ts": "jobs that share a state in PostgreSQL",
  "test/e2e/shared-state/s3.test.ts": "jobs that share a state in S3",
  "test/e2e/shared-state/woken.test.ts": "a stopped job that wakes up after a takeover",
  "test/e2e/store-shows-nothing.test.ts":
    "servers that show a state late or never, with the five seconds between two looks",
  "test/e2e/tier-matrix.test.ts": "every tier against every operation",
  "test/e2e/time-limit.test.ts": "a time limit in every wait",
  "test/e2e/trusted-apply.test.ts": "users and rights of real databases",
  "test/install.test.ts": "the package, packed and installed, with real databases",
  "test/replace/held.test.ts":
    "what happens in the phases of a cutover: altered copies, lost pauses, a source that ends",
  "test/replace/killed.test.ts": "a migration killed at every phase, under a writer",
  "test/replace/older-state.test.ts":
    "a state that is older than the switch of a migration, with what real databases show against it",
  "test/replace/slow-stop.test.ts":
    "migrations whose old database takes long to stop, and writes that come meanwhile",
  "test/replace/troubles.test.ts": "a migration refused, killed, moved, and in faults of the service",
  "test/platform/databases.test.ts":
    "the rules of the platform with real databases, killed and started again",
  "test/platform/engine/killed-failover.test.ts": "a platform killed during a failover",
  "test/platform/engine/lost-data.test.ts": "databases whose files are lost or cut",
  "test/platform/engine/replica.test.ts": "replicas and failovers that are cut off in the middle",
  "test/platform/engine/users.test.ts": "users of real databases, after restarts, kills and failovers",
  "test/platform/full-disk.test.ts": "a platform on a full disk",
  "test/platform/full-tmpfs.test.ts": "a platform on a full disk that is real",
  "test/platform/bodies.test.ts": "hundreds of large and hostile bodies",
  "test/platform/killed-operations.test.ts": "a platform killed during operations",
  "test/platform/process.test.ts": "a platform that is signalled, killed and started twice",
  "test/platform/real-failures.test.ts": "real databases that die",
  "test/platform/user-statuses.test.ts": "users changed at each status of a real database",
  "test/regular-expressions.test.ts": "the work of each regular expression, and the longest texts",
  "test/report/html/browser.test.ts": "pages of reports in a real browser",
  "test/state/killed-writer.test.ts": "a state whose writer is killed at each change of its files",
  "test/state/move-between-stores.test.ts": "moves from each store to each other",
  "test/state/remote/postgres/failures.test.ts":
    "servers that go away, lost answers and rights of PostgreSQL and PgBouncer",
  "test/state/stores/conformance.test.ts": "one suite for every store and dialect",
  "test/commands/pipeline-syntax.test.ts": "generated pipelines, checked by the parsers of GitHub and GitLab",
  "test/e2e/platform-process.test.ts": "the platform's program in the foreground, detached and stopped",
  "test/manifest/growth.test.ts": "the work of manifests twice and four times as long",
  "test/platform/engine/survival.test.ts": "real databases stopped, started and killed",
  "test/platform/field-effects.test.ts": "the effect of each field on a real database",
};

/** @module Names the variables of the environment that are read, and reads them into settings, once. */

import { type KnownSecrets, knownSecrets } from "../model/known-secrets.ts";
import { type StoreSetting, storeVariables } from "../model/stores/index.ts";
import type { StoreVariable } from "../model/stores/store.ts";
import { loginsIn } from "../model/userinfo.ts";

/** The variables of a process, by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** The settings of a run. Their values live in closures: nothing that prints settings shows them. */
export interface Settings {
  /** Returns a value; an empty one counts as unset, because pipelines pass missing secrets as empty variables. */
  readonly get: (key: SettingKey) => string | undefined;
  /** Returns the value of a variable by its name, as `get` does. */
  readonly variable: (name: string) => string | undefined;
  /** Returns the whole environment: for secrets that name a variable, and for child processes. */
  readonly environment: () => Environment;
  /** The secrets of the run. The credentials of service, stores and forge, and logins in addresses, are known from the start. */
  readonly secrets: KnownSecrets;
}

/** Credentials of the service and of the forge. */
const credentials: readonly SettingKey[] = [
  ...(["password", "token", "githubToken", "gitlabToken", "ciJobToken"] as const),
];

/** Reads an environment into settings. */
export function settingsOf(environment: Environment): Settings {
  const values = new Map(
    Object.entries(variables).map(([key, { name }]) => [key, environment[name]] as const),
  );
  const secrets = knownSecrets();
  const ofStores = Object.values<StoreVariable>(storeVariables()).filter(({ isSecret }) => isSecret);
  secrets.add([
    ...credentials.map((key) => values.get(key)),
    ...ofStores.map(({ name }) => environment[name]),
  ]);
  for (const value of values.values()) secrets.add(loginsIn(value ?? null));
  return {
    secrets,
    get: (key) => {
      const value = values.get(key);
      return value === "" ? undefined : value;
    },
    variable: (name) => environment[name] || undefined,
    environment: () => environment,
  };
}

interface Variable {
  readonly name: string;
  /** A sentence for the documentation. */
  readonly about: string;
}

/** Variables that no store brings with it. */
const table = {
  username: { name: "GRAPHFORM_USERNAME", about: "User name for the service; wins over a stored session." },
  password: { name: "GRAPHFORM_PASSWORD", about: "Password for the service." },
  token: { name: "GRAPHFORM_TOKEN", about: "Token for the users host, in place of the session's." },
  tokenCommand: {
    name: "GRAPHFORM_TOKEN_COMMAND",
    about: "Program with its arguments that prints that token; it runs without a shell.",
  },
  tokenCommandEnv: { name: "GRAPHFORM_TOKEN_COMMAND_ENV", about: "Variables that it gets, by name: `A,B`." },
  platformUrl: {
    name: "GRAPHFORM_PLATFORM_URL",
    about: "URL of the service; `--platform-url` wins over it.",
  },
  usersUrl: { name: "GRAPHFORM_USERS_URL", about: "URL of the users host; `--users-url` wins over it." },
  subscriptionId: {
    name: "GRAPHFORM_SUBSCRIPTION_ID",
    about: "Subscription of every tier; `--subscription` wins over it.",
  },
  caFile: {
    name: "GRAPHFORM_CA_FILE",
    about:
      "PEM file of the authority that the certificates of the service, its databases and the state's store are checked with.",
  },
  stateHome: {
    name: "XDG_STATE_HOME",
    about: "Folder of the sessions that `login` stores; default `~/.local/state`.",
  },
  ci: { name: "CI", about: "Set in a pipeline: no colour, and nobody is asked." },
  noColor: { name: "NO_COLOR", about: "No colour." },
  term: { name: "TERM", about: "`dumb`: no colour." },
  browser: { name: "BROWSER", about: "Program that `platform open` opens a page with." },
  display: { name: "DISPLAY", about: "Set on a desktop with X11, where `platform open` can open a page." },
  waylandDisplay: { name: "WAYLAND_DISPLAY", about: "The same with Wayland." },
  path: { name: "PATH", about: "Folders that `xdg-open` is looked for in." },
  githubActions: {
    name: "GITHUB_ACTIONS",
    about: "`true`: `plan` and `validate` print annotations for GitHub.",
  },
  githubStepSummary: {
    name: "GITHUB_STEP_SUMMARY",
    about: "File of a step's summary, to which `plan` appends.",
  },
  githubOutput: {
    name: "GITHUB_OUTPUT",
    about: "File of a step's outputs, to which `plan`, `drift`, `apply` and `validate` append.",
  },
  githubWorkspace: {
    name: "GITHUB_WORKSPACE",
    about: "Root of the repository on GitHub, for paths in reports.",
  },
  githubToken: {
    name: "GITHUB_TOKEN",
    about:
      "Token with which `ci comment` and `ci issue` write, and `apply` reads the newest commit; it goes to GitHub alone.",
  },
  githubApiUrl: {
    name: "GITHUB_API_URL",
    about: "Address of GitHub's API; default `https://api.github.com`.",
  },
  githubRepository: { name: "GITHUB_REPOSITORY", about: "The repository on GitHub: `owner/name`." },
  githubRef: {
    name: "GITHUB_REF",
    about: "`refs/pull/N/merge`: the pull request that `ci comment` writes to.",
  },
  githubEventPath: { name: "GITHUB_EVENT_PATH", about: "File with the event that began the run." },
  githubServerUrl: { name: "GITHUB_SERVER_URL", about: "Address of GitHub, for the link to the run." },
  githubRunId: { name: "GITHUB_RUN_ID", about: "Id of the run, for the link to it." },
  githubSha: { name: "GITHUB_SHA", about: "The commit that the run is about." },
  gitlabCi: { name: "GITLAB_CI", about: "`true`: `ci comment` and `ci issue` write to GitLab." },
  gitlabToken: {
    name: "GITLAB_TOKEN",
    about:
      "Token with the scope `api` with which `ci comment` and `ci issue` write; it goes to GitLab's API alone.",
  },
  ciApiV4Url: {
    name: "CI_API_V4_URL",
    about: "Address of GitLab's API; `CI_JOB_TOKEN` goes to a state there alone.",
  },
  ciProjectId: { name: "CI_PROJECT_ID", about: "The project on GitLab." },
  ciProjectUrl: {
    name: "CI_PROJECT_URL",
    about: "Address of the project: `apply` asks it whether the commit of a saved plan is still the newest.",
  },
  ciCommitBranch: { name: "CI_COMMIT_BRANCH", about: "The branch that the job is about." },
  ciMergeRequestRefPath: { name: "CI_MERGE_REQUEST_REF_PATH", about: "The ref of the merge request." },
  ciMergeRequestProjectId: {
    name: "CI_MERGE_REQUEST_PROJECT_ID",
    about: "The project of the merge request; another one than CI_PROJECT_ID in the pipeline of a fork.",
  },
  ciMergeRequestIid: {
    name: "CI_MERGE_REQUEST_IID",
    about: "The merge request that `ci comment` writes to.",
  },
  ciJobUrl: { name: "CI_JOB_URL", about: "Link to the job." },
  ciCommitSha: { name: "CI_COMMIT_SHA", about: "The commit that the job is about." },
  ciProjectDir: { name: "CI_PROJECT_DIR", about: "The same on GitLab." },
  state: {
    name: "GRAPHFORM_STATE",
    about: "Location of the state, as `--state` takes it; `--state` wins over it.",
  },
  stateLease: {
    name: "GRAPHFORM_STATE_LEASE",
    about:
      "Time after which others may take over the lock of a run that has died, like `60s`, the default; from `1s` to `24h`.",
  },
  ciJobToken: {
    name: "CI_JOB_TOKEN",
    about:
      "Token of a job on GitLab: used for a state at that GitLab, as `gitlab-ci-token`, where nothing else is set, and to read the newest commit.",
  },
} as const;

type SettingKey = keyof typeof table | StoreSetting;

/** The variables that are read, by the key of their setting. */
export const variables: { readonly [key in SettingKey]: Variable } = {
  ...table,
  ...storeVariables(),
};

/** @module Names the variables of the environment that are read, and reads them into settings, once. */
import { mapped } from "../model/json.ts";
import { type KnownSecrets, knownSecrets } from "../model/known-secrets.ts";
import { storeVariables } from "../model/stores/index.ts";
import { loginsIn } from "../model/userinfo.ts";

export type Environment = { readonly [name: string]: string | undefined };

/** The settings of a run. Their values live in closures: nothing that prints settings shows them. */
export interface Settings {
  /** Returns a value; an empty one counts as unset, because pipelines pass missing secrets as empty variables. */
  readonly get: (name: SettingName) => string | undefined;
  readonly variable: (name: string) => string | undefined;
  /** Returns the whole environment: for secrets that name a variable, and for child processes. */
  readonly environment: () => Environment;
  /** The secrets of the run. The credentials of service, stores and forge, and logins in addresses, are known from the start. */
  readonly secrets: KnownSecrets;
}

/** Credentials of the service and of the forge. */
const credentials: readonly SettingName[] = [
  "GRAPHFORM_PASSWORD",
  "GRAPHFORM_TOKEN",
  "GITHUB_TOKEN",
  "GITLAB_TOKEN",
  "CI_JOB_TOKEN",
  "GRAPHFORM_CONTROLLER_TOKEN",
];

export function settingsOf(environment: Environment): Settings {
  const values = new Map(Object.keys(variables).map((name) => [name, environment[name]] as const));
  const secrets = knownSecrets();
  const ofStores = Object.entries(storeVariables()).flatMap(([name, { isSecret }]) =>
    isSecret ? [name] : [],
  );
  secrets.add([...credentials, ...ofStores].map((name) => values.get(name)));
  for (const value of values.values()) secrets.add(loginsIn(value ?? null));
  return {
    secrets,
    get: (name) => values.get(name) || undefined,
    variable: (name) => environment[name] || undefined,
    environment: () => environment,
  };
}

/** Variables that no store brings with it. */
const table = {
  GRAPHFORM_USERNAME: "User name for the service; wins over a stored session.",
  GRAPHFORM_PASSWORD: "Password for the service.",
  GRAPHFORM_TOKEN: "Token for the users host, in place of the session's.",
  GRAPHFORM_TOKEN_COMMAND: "Program with its arguments that prints that token; it runs without a shell.",
  GRAPHFORM_TOKEN_COMMAND_ENV: "Variables that it gets, by name: `A,B`.",
  GRAPHFORM_PLATFORM_URL: "URL of the service; `--platform-url` wins over it.",
  GRAPHFORM_USERS_URL: "URL of the users host; `--users-url` wins over it.",
  GRAPHFORM_SUBSCRIPTION_ID: "Subscription of every tier; `--subscription` wins over it.",
  GRAPHFORM_CA_FILE:
    "PEM file of the authority that the certificates of the service, its databases and the state's store are checked with.",
  GRAPHFORM_CONTROLLER_URL:
    "Address of the controller that `fleet` talks to; default `http://127.0.0.1:8080`.",
  GRAPHFORM_CONTROLLER_TOKEN: "Token for it.",
  GRAPHFORM_CONTROLLER_DATABASE_URL:
    "Database of the controller that `serve` runs, with user and password; `--database-url` wins over it.",
  XDG_STATE_HOME: "Folder of the sessions that `login` stores; default `~/.local/state`.",
  CI: "Set in a pipeline: no colour, and no questions.",
  NO_COLOR: "No colour.",
  TERM: "`dumb`: no colour.",
  BROWSER: "Program that `platform open` opens a page with.",
  DISPLAY: "Set on a desktop with X11, where `platform open` can open a page.",
  WAYLAND_DISPLAY: "The same with Wayland.",
  PATH: "Folders that `xdg-open` is looked for in.",
  GITHUB_ACTIONS: "`true`: `plan` and `validate` print annotations for GitHub.",
  GITHUB_STEP_SUMMARY: "File of a step's summary, to which `plan` appends.",
  GITHUB_OUTPUT: "File of a step's outputs, to which `plan`, `drift`, `apply` and `validate` append.",
  GITHUB_WORKSPACE: "Root of the repository on GitHub, for paths in reports.",
  GITHUB_TOKEN:
    "Token with which `ci comment` and `ci issue` write, and `apply` reads the newest commit; it goes to GitHub alone.",
  GITHUB_API_URL: "Address of GitHub's API; default `https://api.github.com`.",
  GITHUB_REPOSITORY: "The repository on GitHub: `owner/name`.",
  GITHUB_REF: "`refs/pull/N/merge`: the pull request that `ci comment` writes to.",
  GITHUB_EVENT_PATH: "File with the event that began the run.",
  GITHUB_SERVER_URL: "Address of GitHub, for the link to the run.",
  GITHUB_RUN_ID: "Id of the run, for the link to it.",
  GITHUB_SHA: "The commit that the run is about.",
  GITLAB_CI: "`true`: `ci comment` and `ci issue` write to GitLab.",
  GITLAB_TOKEN:
    "Token with the scope `api` with which `ci comment` and `ci issue` write; it goes to GitLab's API alone.",
  CI_API_V4_URL: "Address of GitLab's API; `CI_JOB_TOKEN` goes to a state there alone.",
  CI_PROJECT_ID: "The project on GitLab.",
  CI_PROJECT_URL:
    "Address of the project: `apply` asks it whether the commit of a saved plan is still the newest.",
  CI_COMMIT_BRANCH: "The branch that the job is about.",
  CI_MERGE_REQUEST_REF_PATH: "The ref of the merge request.",
  CI_MERGE_REQUEST_PROJECT_ID:
    "The project of the merge request; another one than CI_PROJECT_ID in the pipeline of a fork.",
  CI_MERGE_REQUEST_IID: "The merge request that `ci comment` writes to.",
  CI_JOB_URL: "Link to the job.",
  CI_COMMIT_SHA: "The commit that the job is about.",
  CI_PROJECT_DIR: "The same on GitLab.",
  GRAPHFORM_STATE: "Location of the state, as `--state` takes it; `--state` wins over it.",
  GRAPHFORM_STATE_LEASE:
    "Time after which others may take over the lock of a run that has died, like `60s`, the default; from `1s` to `24h`.",
  CI_JOB_TOKEN:
    "Token of a job on GitLab: used for a state at that GitLab, as `gitlab-ci-token`, if nothing else is set, and to read the newest commit.",
} as const;

type SettingName = keyof typeof table;

/** The variables that are read, each with a sentence for the documentation. */
export const variables: { readonly [name: string]: string } = {
  ...table,
  ...mapped(storeVariables(), ({ about }) => about),
};

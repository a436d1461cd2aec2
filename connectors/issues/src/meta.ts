import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { intakeConfig } from '@svc/connector-kit/intake-config.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';

/** Names as GitHub takes them. */
const namePattern = '^[A-Za-z0-9._-]{1,100}$';
/** Where the core keeps copies of repositories, below the data folder. */
export const checkoutsFolder = 'checkouts';
const { debounce_ms, gather, quiet_strangers } = intakeConfig;

/** What this connector is. It is data: nothing here may open, read or start anything. */
export const meta = {
  type: 'issues',
  displayName: 'GitHub issues',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 65_536,
    supports_markdown: true,
    supports_code_blocks: true,
    supports_attachments_out: false,
  },
  credentialKeys: ['pat_secret_key', 'webhook_secret_key'],
  exclusive: ['pat_secret_key'],
  configSchema: {
    type: 'object',
    required: ['repos', 'pat_secret_key'],
    properties: {
      repos: {
        type: 'array',
        title: 'Repositories',
        description: 'The repositories to watch: [{ "owner": "ann", "repo": "demo" }].',
        minItems: 1,
        maxItems: 50,
        items: {
          type: 'object',
          required: ['owner', 'repo'],
          additionalProperties: false,
          properties: {
            owner: { type: 'string', pattern: namePattern },
            repo: { type: 'string', pattern: namePattern },
          },
        },
      },
      pat_secret_key: {
        type: 'string',
        title: 'Access token',
        description: "Name of the secret that holds the access token of the assistant's account.",
        minLength: 1,
        maxLength: 64,
      },
      mention: {
        type: 'string',
        title: 'Mention',
        description: 'Text that calls the assistant. If empty, "@" and its name.',
        default: '',
        pattern: '^(\\S.{0,62}\\S|\\S)?$',
        maxLength: 64,
      },
      poll_interval_ms: {
        type: 'integer',
        title: 'Poll every (ms)',
        description: 'How often each repository is polled.',
        default: 20_000,
        minimum: 200,
        maximum: 3_600_000,
      },
      workspace_dir: {
        type: 'string',
        title: 'Folder of checkouts',
        description: 'Always this folder of the data folder: the service keeps all checkouts in one place.',
        default: checkoutsFolder,
        maxLength: 1024,
      },
      clone_repos: {
        type: 'boolean',
        title: 'Check out the code',
        description: 'The assistant gets a copy of the repository; in a pull request, at its head commit.',
        default: true,
      },
      stream: {
        type: 'boolean',
        title: 'Show the work',
        description: "The assistant's comment shows its thoughts and steps until the answer is ready.",
        default: true,
      },
      dry_run: {
        type: 'boolean',
        title: 'Dry run',
        description: 'Writes to the log what it would do, and nothing to GitHub.',
        default: true,
      },
      allowed_bots: {
        type: 'array',
        title: 'Allowed bots',
        description: 'Logins of the only bots that may call the assistant, such as "renovate[bot]".',
        default: [],
        maxItems: 50,
        items: { type: 'string', minLength: 1, maxLength: 64 },
      },
      reactions: {
        type: 'boolean',
        title: 'Reactions',
        description: 'A message that is being answered is marked with 👀.',
        default: true,
      },
      housekeeping: {
        type: 'boolean',
        title: 'Housekeeping',
        description: 'People with every right may ask the assistant to close, reopen or label the issue, or to comment on it.',
        default: true,
      },
      api_url: {
        type: 'string',
        title: 'API',
        description: "Address of another API than GitHub's, such as https://HOST/api/v3 of a GitHub Enterprise Server.",
        default: 'https://api.github.com',
        pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*)?$',
        maxLength: 1024,
      },
      git_url: {
        type: 'string',
        title: 'Git server',
        description: 'Where repositories are fetched from, such as https://HOST of a GitHub Enterprise Server.',
        default: 'https://github.com',
        pattern: '^(https?|git)://[^\\s/?#@]+(/[^\\s?#@]*)?$',
        maxLength: 1024,
      },
      write_interval_ms: {
        type: 'integer',
        title: 'Minimum time between writes (ms)',
        description: 'Use less than the default only with a GitHub Enterprise Server that has no rate limits.',
        default: 1000,
        minimum: 0,
        maximum: 60_000,
      },
      edit_interval_ms: {
        type: 'integer',
        title: 'Time between edits (ms)',
        description: 'How often a growing answer is updated at first. Later the time grows to three times this value.',
        default: 5000,
        minimum: 50,
        maximum: 60_000,
      },
      webhook_port: {
        type: 'integer',
        title: 'Webhook port',
        description: "Port on 127.0.0.1 for a proxy that forwards GitHub's requests to /webhook. 0 means no webhook.",
        default: 0,
        minimum: 0,
        maximum: 65_535,
      },
      webhook_secret_key: {
        type: 'string',
        title: 'Webhook secret',
        description: "Name of the secret that holds the webhook's secret.",
        minLength: 1,
        maxLength: 64,
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public'),
      debounce_ms,
      gather,
      quiet_strangers,
    },
  },
  outbound: { kinds: ['text'], target: { required: true, label: 'owner/repo#number' } },
  calls: ['close_issue', 'reopen_issue', 'add_labels', 'remove_labels', 'add_comment'],
} as const satisfies ConnectorMeta;

export type Repo = { owner: string; repo: string };

/** An instance's config, after the manager has checked it and filled in the defaults. */
export type Config = {
  repos: Repo[];
  pat_secret_key: string;
  mention: string;
  poll_interval_ms: number;
  workspace_dir: string;
  clone_repos: boolean;
  stream: boolean;
  dry_run: boolean;
  allowed_bots: string[];
  reactions: boolean;
  housekeeping: boolean;
  api_url: string;
  git_url: string;
  write_interval_ms: number;
  edit_interval_ms: number;
  webhook_port: number;
  webhook_secret_key?: string;
};

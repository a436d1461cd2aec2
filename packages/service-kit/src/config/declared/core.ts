import { spendPeriods } from '@svc/contract/spend-period.ts';
import { setting } from '../setting.ts';
import {
  dataFile,
  hostNames,
  secretsForHosts,
  hours,
  integer,
  oneOf,
  port,
  usd,
  bytes,
  neededDataFile,
  optionalText,
  requiredUrl,
  text,
  token,
} from '../setting-types.ts';

/** Settings: turns, their cost limits, and what is stored of them. */
export const coreSettings = {
  corePort: setting('SVC_CORE_PORT', port(), { text: 'Port of the core.', default: '3023' }),
  coreToken: setting('SVC_CORE_TOKEN', token(), {
    text: 'Bearer token of every core route but /health, /version and /openapi.json. Unset: open to every program of this machine.',
  }),
  maxConcurrentTurns: setting('SVC_MAX_CONCURRENT_TURNS', integer(1, 1024), {
    text: 'How many turns run at once over all conversations.',
    default: '8',
  }),
  maxQueuedTurns: setting('SVC_MAX_QUEUED_TURNS', integer(1, 100_000), {
    text: 'How many turns may wait before new ones are refused with 429.',
    default: '256',
  }),
  maxBotTurns: setting('SVC_MAX_BOT_TURNS', integer(0, 1000), {
    text: 'How many turns in a row from bots are answered in a conversation, until a person writes.',
    default: '5',
  }),
  publicLinkHosts: setting('SVC_PUBLIC_LINK_HOSTS', hostNames(), {
    text: 'Hosts that links on public channels may lead to, separated by commas, including their subdomains. Unset: any.',
  }),
  turnIdleMs: setting('SVC_TURN_IDLE_MS', integer(1000, 86_400_000), {
    text: 'A turn whose engine sends nothing for this long is ended.',
    default: '600000',
  }),
  turnMaxMs: setting('SVC_TURN_MAX_MS', integer(1000, 7 * 86_400_000), {
    text: 'A turn that takes longer than this is ended, whatever its engine sends.',
    default: '7200000',
  }),
  // A little less than the half hour for which a tool may be silent.
  askTimeoutMs: setting('SVC_ASK_TIMEOUT_MS', integer(1000, 1_500_000), {
    text: 'A question of the assistant to a person that is not answered for this long is denied.',
    default: '600000',
  }),
  maxReplyChars: setting('SVC_MAX_REPLY_CHARS', integer(1000, 50_000_000), {
    text: 'A reply that gets longer than this is cut, and its turn ends.',
    default: '1000000',
  }),
  maxToolChars: setting('SVC_MAX_TOOL_CHARS', integer(100, 200_000), {
    text: 'How much of the input and of the output of a tool call is shown and recorded. The engine sees everything.',
    default: '16000',
  }),
  maxTurnChars: setting('SVC_MAX_TURN_CHARS', integer(1000, 10_000_000_000), {
    text: 'A turn whose engine sends more characters than this, including thinking and tool calls, is ended.',
    default: '64000000',
  }),
  historyDays: setting('SVC_HISTORY_DAYS', integer(0, 36_500), {
    text: 'How long conversation history is kept. 0: forever.',
    default: '90',
  }),
  titles: setting('SVC_TITLES', oneOf(['model', 'words', 'off']), {
    text: 'How conversations get their titles: model (the first words, then after the first answer a title by a small side call to the cheapest engine), words (the first words) or off.',
    default: 'model',
  }),
  /** Limits of the cost of a period at list prices, USD; null is no limit. */
  spendSoftUsd: setting('SVC_SPEND_SOFT_USD', usd(), {
    text: 'A warning is given when all people together have spent more than this many USD in a period. Unset: no limit.',
  }),
  spendHardUsd: setting('SVC_SPEND_HARD_USD', usd(), {
    text: 'Turns are refused when all people together have spent this many USD in a period. Unset: no limit.',
  }),
  spendPrincipalSoftUsd: setting('SVC_SPEND_PRINCIPAL_SOFT_USD', usd(), {
    text: 'The same warning for each person. Unset: no limit.',
  }),
  spendPrincipalHardUsd: setting('SVC_SPEND_PRINCIPAL_HARD_USD', usd(), {
    text: 'The same refusal for each person. Unset: no limit.',
  }),
  spendPeriod: setting('SVC_SPEND_PERIOD', oneOf(spendPeriods), {
    text: "day or month of this machine's calendar, for all spend limits.",
    default: 'month',
  }),
  checkoutHosts: setting('SVC_CHECKOUT_HOSTS', hostNames(), {
    text: 'Hosts of git servers in your own network, as name or name:port, separated by commas. Checkouts come from these, over http and git too, and over https from any public host.',
  }),
  checkoutSecrets: setting('SVC_CHECKOUT_SECRETS', secretsForHosts(), {
    text: 'Secrets that your own checkouts may name, each with the server that may receive it, separated by commas: GITHUB_TOKEN@github.com. Add the port if it is not that of https. If SVC_CORE_TOKEN is set, a caller with it may name any.',
  }),
  checkoutMaxBytes: setting('SVC_CHECKOUT_MAX_SIZE', bytes(), {
    text: 'Maximum size of the files of one checkout, and of the data that is fetched for it.',
    default: '512mb',
  }),
  checkoutsMaxBytes: setting('SVC_CHECKOUTS_MAX_SIZE', bytes(), {
    text: 'How much all checkouts may take together. Beyond it the least recently used are removed.',
    default: '8gb',
  }),
  maxCheckouts: setting('SVC_MAX_CHECKOUTS', integer(1, 10_000), {
    text: 'Maximum number of checkouts. One connector may have half of them.',
    default: '64',
  }),
  pricingFile: setting('SVC_PRICING_FILE', dataFile('prices'), {
    text: 'JSON file of prices over the built-in ones. Default: pricing.json in the data folder.',
  }),
  /** 0 is never. */
  backupEveryMs: setting('SVC_BACKUP_EVERY_HOURS', hours(0, 8784), {
    text: 'How often a backup is made automatically. 0: never.',
    default: '24',
  }),
  backupKeep: setting('SVC_BACKUP_KEEP', integer(1, 1000), {
    text: 'How many of the automatic backups are kept.',
    default: '7',
  }),
};

/** Settings: uploaded files. */
export const uploadSettings = {
  rawBodyBytes: setting('SVC_RAW_BODY_LIMIT', bytes(), {
    text: 'How large a file may be that is sent as one body: 1024mb, 2gb or a number of bytes.',
    default: '1024mb',
  }),
  uploadChunkBytes: setting('SVC_UPLOAD_CHUNK_SIZE', bytes(), { text: 'Size of the chunks of an upload.', default: '8mb' }),
  uploadMaxChunkBytes: setting('SVC_UPLOAD_MAX_CHUNK', bytes(), {
    text: 'How large one chunk may be. A reverse proxy must allow this size.',
    default: '64mb',
  }),
  uploadMaxBytes: setting('SVC_UPLOAD_MAX_SIZE', bytes(), {
    text: 'How large a file may be that is sent in chunks.',
    default: '128gb',
  }),
};

/** Settings: how messages are moderated. */
export const moderationSettings = {
  moderation: setting('SVC_MODERATION', oneOf(['off', 'rules', 'openai']), {
    text: 'How messages are checked before the engine sees them: rules (length, flood, deny file), openai (the rules, then an endpoint) or off.',
    default: 'rules',
  }),
  moderationBaseUrl: setting('SVC_MODERATION_BASE_URL', requiredUrl(), {
    text: "Endpoint that speaks OpenAI's /moderations.",
    default: 'https://api.openai.com/v1',
  }),
  moderationModel: setting('SVC_MODERATION_MODEL', text(), {
    text: 'Model of that endpoint.',
    default: 'omni-moderation-latest',
  }),
  /** Null: the endpoint needs no key. */
  moderationKeySecret: setting('SVC_MODERATION_KEY_SECRET', optionalText(), {
    text: 'Name of the secret that is its key. Empty: it needs none.',
    default: 'OPENAI_API_KEY',
  }),
  moderationDenyFile: setting('SVC_MODERATION_DENY_FILE', neededDataFile('denyList'), {
    text: 'Texts and /patterns/ that are refused, one per line. Default: moderation.deny.txt in the data folder.',
  }),
};

import type { RedactedKind } from '../placeholder.ts';
import { findAt, hitsIn, type DetectionRule } from './rule.ts';
import { entropyOf } from './values.ts';

/** Token forms that the vendored set lacks or covers only in part: the words a secret begins with, and its full form. */
const forms: readonly [id: string, words: readonly string[], form: string][] = [
  ['tailscale', ['tskey-'], String.raw`tskey-[a-z]{2,16}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,64}`],
  ['docker', ['dckr_'], String.raw`dckr_(?:pat|oat)_[\w-]{27,64}`],
  ['groq', ['gsk_'], String.raw`gsk_[A-Za-z0-9]{52}`],
  ['vercel', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], String.raw`vc[piark]_[A-Za-z0-9]{24,80}`],
  ['cloudflare', ['cfat_', 'cfut_', 'cfk_'], String.raw`cf(?:at|ut|k)_[A-Za-z0-9]{48}`],
  ['figma', ['figd_', 'figu_', 'figo_'], String.raw`fig[duo]_[\w-]{36,64}`],
  ['shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shptka_'], String.raw`shp(?:at|ca|pa|ss|tka)_[A-Za-z0-9]{32,48}`],
  [
    'stripe',
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    String.raw`(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{24,99}`,
  ],
  ['huggingface', ['hf_', 'api_org_'], String.raw`(?:hf_|api_org_)[A-Za-z]{34}`],
  ['grafana', ['glsa_', 'glc_'], String.raw`(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[\w+/=-]{32,400})`],
  ['sendgrid', ['sg.'], String.raw`SG\.[\w-]{18,26}\.[\w-]{39,50}`],
  ['databricks', ['dapi'], String.raw`dapi[A-Fa-f0-9]{32}(?:-\d)?`],
  ['slack-webhook', ['hooks.slack.com'], String.raw`hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/+-]{16,128}`],
  [
    'slack',
    ['xoxa-', 'xoxb-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'],
    String.raw`(?:xox[abceoprs]|xapp)-\d[\w-]{16,256}|xoxd-[\w%+/=-]{40,400}`,
  ],
  [
    'discord-webhook',
    ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    String.raw`api\/webhooks\/\d{16,20}\/[\w-]{60,80}`,
  ],
  ['anthropic', ['sk-ant-'], String.raw`sk-ant-[a-z]{2,8}\d{2}-[\w-]{24,128}`],
  ['openrouter', ['sk-or-'], String.raw`sk-or-v1-[a-f0-9]{64}`],
  ['telegram-bot', [':aa'], String.raw`\d{8,10}:AA[\w-]{32,34}`],
  ['discord-mfa', ['mfa.'], String.raw`mfa\.[\w-]{84}`],
  [
    'base64-key',
    ['ls0tls1crudjti'],
    String.raw`LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFU|BFQyBQUklWQVRF|BPUEVOU1NI|BFTkNSWVBUR|BEU0EgUFJJVkFU|BQR1AgUFJJVkFU)[\w+/=-]{40,}`,
  ],
  ['google', ['gocspx-', 'ya29.', '1//0'], String.raw`(?:GOCSPX-[\w-]{28}|ya29\.[\w-]{40,512}|1\/\/0[\w-]{40,128})`],
];

/** Forms that are unmistakable: they match within a word too. */
const anywhere: readonly [id: string, words: readonly string[], form: string][] = [
  ['sendgrid-exact', ['sg.'], String.raw`SG\.[\w-]{22}\.[\w-]{43}`],
];

/** How the base64 of digits begins: a Discord id, before the dot. */
const discordIds = Array.from('mno').flatMap((first) =>
  Array.from('dtjz').flatMap((second) => Array.from('aeimquyckg', (third) => first + second + third)),
);

/** Forms that match only where a word begins, and not when they are an example of one repeated letter. */
const bound: readonly [id: string, words: readonly string[], form: string, needs?: string][] = [
  ['discord-bot', discordIds, String.raw`[MNO][DTjz][AEIMQUYcgk][wxyz0-5][\w-]{20,24}\.[\w-]{6}\.[\w-]{27,38}`],
  ['deepseek', ['sk-'], String.raw`sk-[a-f0-9]{32}`],
  ['elevenlabs', ['sk_'], String.raw`sk_[a-f0-9]{48}`],
  ['openai', ['sk-'], String.raw`sk-(?:(?:proj|svcacct|admin|None)-)?[\w-]{20,150}T3BlbkFJ[\w-]{20,150}`, 'T3BlbkFJ'],
  ['xai', ['xai-'], String.raw`xai-[A-Za-z0-9]{60,100}`],
  ['replicate', ['r8_'], String.raw`r8_[A-Za-z0-9]{37}`],
  [
    'github',
    ['github_pat_', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    String.raw`(?:github_pat_\w{60,100}|gh[pousr]_[A-Za-z0-9]{36,255})`,
  ],
  ['npm', ['npm_'], String.raw`npm_[A-Za-z0-9]{36}`],
  ['gemini', ['aiza'], String.raw`AIza[\w-]{35}`],
  // The tokens that the service issues itself. It stores only a digest of most of them, so it does not know their values.
  [
    'own',
    ['svcd_', 'svcl_', 'sk-svc-', 'vagent_', 'vadmin_', 'vtoken_'],
    String.raw`(?:svc[dl]_|sk-svc-|v(?:agent|admin|token)_)[\w-]{43}`,
  ],
];

/** Forms that match only as the value of their own name. */
const named: readonly [id: string, kind: RedactedKind, words: readonly string[], form: RegExp][] = [
  [
    'aws-account-id',
    'credential',
    ['account_id', 'accountid', 'account-id'],
    /aws[_-]?account[_-]?id["']?\s{0,3}(?:=>|[:=])\s{0,3}["']?(?<secret>\d{4}-?\d{4}-?\d{4})\b/dgi,
  ],
  [
    'azure-id',
    'credential',
    ['tenant_id', 'tenantid', 'client_id', 'clientid'],
    /(?:ad[_-]?tenant|azure[_-]?(?:ad[_-]?)?(?:tenant|client))[_-]?id["']?\s{0,3}(?:=>|:=|[:=])\s{0,3}["']?(?<secret>[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})\b/dgi,
  ],
];

const accept = (secret: string): boolean => entropyOf(secret) >= leastEntropy;
const leastEntropy = 2.5;

/** How far before its keyword a token may begin. */
const longestBefore = 32;

/** `needs`: a part of every match. It is searched for once, before the expression is tried at each of many keywords. */
const tokenRule = (id: string, words: readonly string[], regex: RegExp, isBound = false, needs = ''): DetectionRule => ({
  id: `${id}-form`,
  triggers: [{ opening: 'token', words, isBound }],
  find: (text, hits = hitsIn(text, words)) =>
    text.includes(needs) ? findAt({ regex, kind: 'token', before: longestBefore, ...(isBound && { accept }) }, text, hits) : [],
});

const wordForm = (form: string): RegExp => new RegExp(`(?<![A-Za-z])(?<secret>${form})(?![A-Za-z0-9[])`, flagsOf(form));

/** Forms that begin with digits or part of an address begin before their keyword. */
const flagsOf = (form: string): string => (/^(?:\\d|api\\\/)/.test(form) ? 'dg' : 'dy');

export const prefixRules: readonly DetectionRule[] = [
  ...forms.map(([id, words, form]) => tokenRule(id, words, wordForm(form))),
  ...bound.map(([id, words, form, needs]) => tokenRule(id, words, wordForm(form), true, needs)),
  ...anywhere.map(([id, words, form]) => tokenRule(id, words, new RegExp(`(?<secret>${form})`, 'dy'))),
  ...named.map(([id, kind, words, regex]): DetectionRule => ({
    id,
    triggers: [{ opening: 'assignment', words }],
    find: (text, hits = hitsIn(text, words)) => findAt({ regex, kind, before: longestBefore }, text, hits),
  })),
];

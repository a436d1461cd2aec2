import type { RedactedKind } from '../placeholder.ts';
import type { DetectionRule } from './rule.ts';
import { findAll } from './structure-rules.ts';

/** Token forms that the vendored set lacks, or knows only in part: what a secret begins with, and the whole of it. */
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
  ['slack', ['xoxa-', 'xoxb-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'], String.raw`(?:xox[abeoprs]|xapp)-\d[\w-]{16,256}`],
  [
    'discord-webhook',
    ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    String.raw`api\/webhooks\/\d{16,20}\/[\w-]{60,80}`,
  ],
  ['anthropic', ['sk-ant-'], String.raw`sk-ant-[a-z]{2,8}\d{2}-[\w-]{24,128}`],
  ['openrouter', ['sk-or-'], String.raw`sk-or-v1-[a-f0-9]{64}`],
  ['telegram-bot', [':aa'], String.raw`\d{8,10}:AA[\w-]{33}`],
  ['google', ['gocspx-', 'ya29.', '1//0'], String.raw`(?:GOCSPX-[\w-]{28}|ya29\.[\w-]{40,512}|1\/\/0[\w-]{40,128})`],
];

/** Forms that are like nothing else: they count within a word too. */
const anywhere: readonly [id: string, words: readonly string[], form: string][] = [
  ['sendgrid-exact', ['sg.'], String.raw`SG\.[\w-]{22}\.[\w-]{43}`],
];

/** Forms that only count as the value of their own name. */
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

const tokenRule = (id: string, words: readonly string[], regex: RegExp): DetectionRule => ({
  id: `${id}-form`,
  triggers: [{ opening: 'token', words }],
  find: (text) => findAll(text, regex, 'token', () => true),
});

export const prefixRules: readonly DetectionRule[] = [
  ...forms.map(([id, words, form]) => tokenRule(id, words, new RegExp(`(?<![A-Za-z])(?<secret>${form})(?![A-Za-z0-9[])`, 'dg'))),
  ...anywhere.map(([id, words, form]) => tokenRule(id, words, new RegExp(`(?<secret>${form})`, 'dg'))),
  ...named.map(([id, kind, words, regex]): DetectionRule => ({
    id,
    triggers: [{ opening: 'assignment', words }],
    find: (text) => findAll(text, regex, kind, () => true),
  })),
];

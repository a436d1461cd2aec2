import { t } from '@svc/chat-ui/language/t.ts';
import { type Principal, type Role, tiers } from '@svc/contract/trust.ts';
import { askWords, hasEnded, listWords, tierWords, toolWords } from './trust-words.ts';

export type RoleDraft = Omit<Role, 'id'>;

/** Who has a role now. */
export const holdersOf = (people: readonly Principal[], role: Pick<Role, 'id'>): Principal[] =>
  people.filter(({ grants }) => grants.some((grant) => grant.role_id === role.id && !hasEnded(grant)));

/** What the change of a role means for the people who have it, a sentence each; none when nothing changes. */
export function effectsOf(was: Role, draft: RoleDraft): string[] {
  return [
    was.tier === draft.tier ? null : tierEffect(was, draft),
    was.tool_policy === draft.tool_policy ? null : toolEffect(was, draft),
    was.asks === draft.asks
      ? null
      : t('The assistant asks them first: {now} (so far: {before}).', { now: askWords[draft.asks], before: askWords[was.asks] }),
    surfacesEffect(was, draft),
    same(was.tool_servers, draft.tool_servers)
      ? null
      : t('Their tool servers: {servers}.', { servers: listWords(draft.tool_servers) }),
  ].filter((sentence) => sentence !== null);
}

function tierEffect(was: Role, { tier }: RoleDraft): string {
  if (tier === 'BLOCKED') return t('They are refused, whatever else they were given.');
  if (tiers.indexOf(tier) < tiers.indexOf('GUEST')) return t('They are refused, unless another role lets them in.');
  const change = { before: tierWords[was.tier], now: tierWords[tier] };
  return tiers.indexOf(tier) > tiers.indexOf(was.tier)
    ? t('They rise from {before} to {now}.', change)
    : t('They fall from {before} to {now}.', change);
}

function toolEffect(was: Role, { tool_policy: tools }: RoleDraft): string {
  if (tools === 'full') return t('From their next message on they may let it do anything on this machine.');
  if (tools === 'none') return t('From now on they may only talk with it; running turns that may do more are ended.');
  return was.tool_policy === 'none'
    ? t('From their next message on they may let it look things up.')
    : t('From now on they may let it look things up; running turns that may do more are ended.');
}

function surfacesEffect(was: Role, { surfaces }: RoleDraft): string | null {
  if (same(was.surfaces, surfaces)) return null;
  return surfaces === '*'
    ? t('It applies on every channel.')
    : t('It applies only on these channels: {channels}.', { channels: listWords(surfaces) });
}

const same = (one: readonly string[] | '*', other: readonly string[] | '*'): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** What a role would allow, in one sentence. */
export const roleWords = ({ tier, tool_policy: tools, asks }: RoleDraft): string =>
  t('A person with it is {tier}, {tools}, and is asked first: {asks}.', {
    tier: tierWords[tier],
    tools: toolWords[tools],
    asks: askWords[asks],
  });

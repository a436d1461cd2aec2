import { type Principal, type Role, tiers, toolPolicies } from '@svc/contract/trust.ts';
import { askWords, hasEnded, tierWords, toolWords } from './trust-words.ts';

export type RoleDraft = Omit<Role, 'id'>;

/** Who has a role now. */
export const holdersOf = (people: readonly Principal[], role: Pick<Role, 'id'>): Principal[] =>
  people.filter(({ grants }) => grants.some((grant) => grant.role_id === role.id && !hasEnded(grant)));

/** What a changed role means for those who have it, a sentence each; none when nothing changes. */
export function effectsOf(was: Role, draft: RoleDraft): string[] {
  return [
    was.tier === draft.tier ? null : tierEffect(was, draft),
    was.tool_policy === draft.tool_policy ? null : toolEffect(was, draft),
    was.asks === draft.asks ? null : `The assistant asks them first: ${askWords[draft.asks]} (so far: ${askWords[was.asks]}).`,
    surfacesEffect(was, draft),
    same(was.tool_servers, draft.tool_servers) ? null : `Of tool servers they have: ${list(draft.tool_servers)}.`,
  ].filter((sentence) => sentence !== null);
}

function tierEffect(was: Role, { tier }: RoleDraft): string {
  if (tier === 'BLOCKED') return 'They are refused, whatever else they were given.';
  if (tiers.indexOf(tier) < tiers.indexOf('GUEST')) return 'They are refused, unless another role lets them in.';
  const word = tiers.indexOf(tier) > tiers.indexOf(was.tier) ? 'rise' : 'fall';
  return `They ${word} from ${tierWords[was.tier]} to ${tierWords[tier]}.`;
}

function toolEffect(was: Role, { tool_policy: tools }: RoleDraft): string {
  const isMore = toolPolicies.indexOf(tools) > toolPolicies.indexOf(was.tool_policy);
  const words = { full: 'let it do anything on this machine', read: 'let it look things up', none: 'only talk with it' }[tools];
  return isMore
    ? `From their next message on they may ${words}.`
    : `From now on they may ${words}; what runs for them and does more is ended.`;
}

function surfacesEffect(was: Role, { surfaces }: RoleDraft): string | null {
  if (same(was.surfaces, surfaces)) return null;
  return surfaces === '*' ? 'It counts on every channel.' : `It counts on these channels alone: ${list(surfaces)}.`;
}

const same = (one: readonly string[] | '*', other: readonly string[] | '*'): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
const list = (names: readonly string[] | '*'): string => (names === '*' ? 'all' : names.join(', ') || 'none');

/** What a role would allow, in one sentence. */
export const roleWords = ({ tier, tool_policy: tools, asks }: RoleDraft): string =>
  `A person with it is ${tierWords[tier]}, ${toolWords[tools]}, and is asked first: ${askWords[asks]}.`;

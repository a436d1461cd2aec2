import type { ExplainedIdentity, Grant, JudgedGrant, Principal, Role, TrustChange } from '@svc/contract/trust.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { mayDo, tierWord } from '../tier-words.ts';

/** All known people, for a person. `now` is epoch ms. */
export function renderPrincipals(principals: readonly Principal[], now: number, style: Style): string {
  const width = Math.max(...principals.map(({ key }) => key.length), 3);
  const lines = principals.flatMap((principal) => {
    const { key, display_name, status, bypass_moderation } = principal;
    const marks = [...(status === 'disabled' ? [style.red('disabled')] : []), ...(bypass_moderation ? ['not moderated'] : [])];
    const head = `  ${style.bold(key.padEnd(width))}  ${[visibleLine(display_name), ...marks].join(', ')}`;
    return [head, ...factsOf(principal, now, style).map((fact) => `  ${' '.repeat(width)}  ${fact}`)];
  });
  return [
    ...(lines.length === 0 ? ['No person is known yet.'] : lines),
    '',
    style.dim('  ./svc pair                           lists who waits to be let in'),
    style.dim('  ./svc person explain CHANNEL VALUE   says what a sender may do, and why'),
  ].join('\n');
}

function factsOf({ identifiers, grants }: Principal, now: number, style: Style): string[] {
  const names = identifiers.map(({ surface, value }) => `${surface} ${visibleLine(value)}`);
  return [
    grants.length === 0 ? style.yellow('no role') : grants.map((grant) => renderGrant(grant, now, style)).join(', '),
    style.dim(names.length === 0 ? 'no name on any channel' : names.join(', ')),
  ];
}

/** `trusted on messenger until 2026-12-31 18:00`. */
export function renderGrant(
  { role, scope, expires_at }: Pick<Grant, 'role' | 'scope' | 'expires_at'>,
  now: number,
  style: Style,
): string {
  const on = scope.surface === undefined ? '' : ` on ${scope.surface}`;
  const inside = scope.conversation_key === undefined ? '' : ` in ${visibleLine(scope.conversation_key)}`;
  if (expires_at === null) return `${role}${on}${inside}`;
  const isOver = expires_at <= now;
  const text = `${role}${on}${inside} ${isOver ? 'ended' : 'until'} ${moment(expires_at)}`;
  return isOver ? style.yellow(text) : text;
}

/** The roles, for a person. */
export function renderRoles(roles: readonly Role[], style: Style): string {
  const width = Math.max(...roles.map(({ name }) => name.length), 4);
  return roles
    .map((role) => {
      const { name, tier, tool_policy, surfaces, asks, description } = role;
      const where = surfaces === '*' ? '' : `, on ${surfaces.join(', ')} only`;
      const asking = asks === 'never' ? '' : `, asks: ${asks}`;
      const allowed = `tools: ${tool_policy}${limitOf(role)}${asking}${where}`;
      return `  ${style.bold(name.padEnd(width))}  ${tierWord(tier).padEnd(7)}  ${allowed}  ${style.dim(visibleLine(description))}`;
    })
    .join('\n');
}

/** The tool servers that a role is limited to. A role without tools needs no limit. */
function limitOf({ tool_policy, tool_servers }: Pick<Role, 'tool_policy' | 'tool_servers'>): string {
  if (tool_servers === '*' || tool_policy === 'none') return '';
  return tool_servers.length === 0 ? ' (no tool servers)' : ` (tool servers: ${tool_servers.join(', ')})`;
}

/** The changes, one line each. */
export function renderAudit(changes: readonly TrustChange[], style: Style): string {
  if (changes.length === 0) return 'Nothing was changed.';
  return changes
    .map(({ at, actor, what, principal, before, after }) => {
      const about = [
        ...(before === null ? [] : ['was', brief(before)]),
        ...(after === null ? [] : [before === null ? '' : 'is', brief(after)]),
      ];
      const facts = about.filter((part) => part !== '').join(' ');
      return `  ${style.dim(moment(at))}  ${actor}  ${style.bold(what.replaceAll('_', ' '))}  ${[principal ?? '', facts].filter(Boolean).join('  ')}`;
    })
    .join('\n');
}

const maxBrief = 160;

function brief(facts: Record<string, unknown>): string {
  const text = visibleLine(
    Object.entries(facts)
      .filter(([name, value]) => !name.endsWith('_id') && !isNothing(value))
      .map(([name, value]) => `${name}=${factText(name, value)}`)
      .join(' '),
  );
  return text.length > maxBrief ? `${text.slice(0, maxBrief)}…` : text;
}

const isNothing = (value: unknown) => value === null || ['""', '[]', '{}'].includes(JSON.stringify(value));

function factText(name: string, value: unknown): string {
  if (name === 'expires_at' && typeof value === 'number') return moment(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Local time, to the minute. */
export function moment(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Why a sender has the trust they have, for a person. `now` is epoch ms. */
export function renderExplanation(explained: ExplainedIdentity, now: number, style: Style): string {
  const { explanation, denied, reason, trust_tier, tool_policy } = explained;
  const { identifier, principal, grants, capped_from } = explanation;
  const sender = `${identifier.surface} ${visibleLine(identifier.value)}`;
  const who =
    principal === null ? `${sender} is not known` : `${sender} is "${principal.key}" (${visibleLine(principal.display_name)})`;
  const result = denied
    ? style.red(`Denied: ${visibleLine(reason)}.`)
    : `${style.green(tierWord(trust_tier))}: ${mayDo[tool_policy]}${explained.bypass_moderation ? '; messages are not moderated' : ''}.`;
  return [
    `${who}.`,
    ...(grants.length === 0 ? [] : ['', ...grants.map((grant) => grantLine(grant, now, style))]),
    ...(capped_from === null
      ? []
      : ['', `In public nobody has more than ${tierWord(trust_tier)}: ${tierWord(capped_from)} was capped.`]),
    '',
    result,
    ...(principal === null
      ? [
          style.dim('  ./svc pair                            lists who waits to be let in'),
          style.dim('  ./svc person link KEY CHANNEL VALUE   says who this sender is'),
        ]
      : []),
  ].join('\n');
}

function grantLine(grant: JudgedGrant, now: number, style: Style): string {
  const facts = `${renderGrant(grant, now, style)} (${tierWord(grant.tier)}, tools: ${grant.tool_policy})`;
  return grant.misfit === null
    ? `  ${style.green('counts')}    ${facts}`
    : `  ${style.yellow('does not')}  ${facts}: ${visibleLine(grant.misfit)}`;
}

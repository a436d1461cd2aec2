import { isLimitReached, reachedLimit, type PrincipalSpend, type SpendLimits, type SpendReport } from '@svc/contract/cost.ts';
import { atLeast, type Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import { openBudgets, type Budgets, type SenderOf, type Standing, type ToIdentifierValue } from './budgets.ts';
import { createSpendLedger, createSpendStore, type SpendSums } from './spend-ledger.ts';
import { type Overspend, refusalText, warningText } from './spend-words.ts';

export type SpendVerdict = { allowed: true } | { allowed: false; reply: string };

type Spender = Pick<Identity, 'principal_id' | 'principal_key' | 'trust_tier'>;
type Deps = {
  settings: Pick<CoreSettings, `spend${string}` & keyof CoreSettings>;
  db: Pick<Database, 'all' | 'run' | 'getDeferred'>;
  clock: Clock;
  events: Pick<Events, 'spend'>;
  log: Pick<Log, 'warn' | 'error'>;
  toIdentifierValue: ToIdentifierValue;
};

const allowed: SpendVerdict = { allowed: true };
const maxWarnings = 10;

type Payer = Pick<Spender, 'principal_id' | 'principal_key'>;

/**
 * Limits on the cost of turns, at list prices, in total and for each principal. A running turn is never cut: a hard limit refuses the next
 * one, so running turns may exceed it.
 */
export type Spend = {
  /** Whether a turn may begin. The reply contains amounts on private surfaces only, and the total only from TRUSTED on. */
  check(identity: Spender, isPublic: boolean, sender?: SenderOf): SpendVerdict;
  /** Whether a side call for a person may be made. A refusal is not reported to anybody. */
  mayPay(identity: Spender, sender?: SenderOf): boolean;
  /** Counts a turn with its cost, USD; a free turn is not counted. A limit is reported when it is crossed. */
  add(identity: Payer, cost: number | null, sender?: SenderOf): void;
  /** Counts what is paid in addition to turns, such as moderation and titles. */
  addSideCall(identity: Payer, cost: number | null, sender?: SenderOf): void;
  /** The budget in USD per month; null without one. */
  budgetOf(sender: SenderOf): number | null;
  /** Sets a sender's budget, or removes it (null). */
  setBudget: Budgets['set'];
  /** The limits that are currently reached. */
  warnings(): string[];
  report(): SpendReport;
  /** Resolves when everything is stored. */
  close(): Promise<void>;
};

export async function openSpend({ settings, db, clock, events, log, toIdentifierValue }: Deps): Promise<Spend> {
  const ledger = await createSpendLedger({ store: createSpendStore(db), clock, log }, settings.spendPeriod);
  const budgets = await openBudgets({ db, clock, log, toIdentifierValue });
  const total: SpendLimits = { soft_usd: settings.spendSoftUsd, hard_usd: settings.spendHardUsd };
  const each: SpendLimits = { soft_usd: settings.spendPrincipalSoftUsd, hard_usd: settings.spendPrincipalHardUsd };

  const overTotal = (sums: SpendSums) => highest(total, sums.total, { subject: 'total', ...nobody, period: sums.period });
  const overEach = (sums: SpendSums, { key, cost_usd }: Pick<PrincipalSpend, 'key' | 'cost_usd'>) =>
    highest(each, cost_usd, { subject: 'principal', key, surface: null, period: sums.period });

  const overLimit = (identity: Spender): Overspend | null => {
    if (total.hard_usd === null && each.hard_usd === null) return null;
    const sums = ledger.current();
    const own = sums.byPrincipal.get(identity.principal_id ?? '') ?? { key: identity.principal_key, cost_usd: 0 };
    return [overTotal(sums), overEach(sums, own)].find((found) => found?.level === 'hard') ?? null;
  };
  const overBudget = (sender: SenderOf | undefined): Overspend | null => {
    const budget = sender === undefined ? null : budgets.of(sender);
    return budget !== null && isLimitReached(budget.spent, budget.limit) ? toOverspend(budget) : null;
  };
  // A budget of zero blocks the sender on purpose, so it is not reported.
  const usedUp = () => budgets.all().filter(({ spent, limit }) => limit > 0 && isLimitReached(spent, limit));

  const warnings = (): string[] => {
    const sums = ledger.current();
    const people = [...sums.byPrincipal.values()].map((sum) => overEach(sums, sum));
    const found = [overTotal(sums), ...people, ...usedUp().map(toOverspend)].filter((over) => over !== null).map(warningText);
    const more = found.length - maxWarnings;
    return more <= 0 ? found : [...found.slice(0, maxWarnings), `${more} more are past a spending limit.`];
  };
  for (const warning of warnings()) log.warn(warning);

  const report = (over: Overspend) => {
    events.spend(over);
    log.warn(warningText(over));
  };

  const count = (identity: Payer, cost: number | null, sender: SenderOf | undefined, turns: number): void => {
    if (cost === null || !Number.isFinite(cost) || cost <= 0) return;
    if (sender !== undefined) budgets.add(sender, cost, turns);
    const budget = sender === undefined ? null : budgets.of(sender);
    ledger.add(identity.principal_id ?? '', identity.principal_key, cost, turns);
    const sums = ledger.current();
    const own = sums.byPrincipal.get(identity.principal_id ?? '')?.cost_usd ?? cost;
    const period = sums.period;
    const met = [
      ...crossed(total, sums.total, cost, { subject: 'total', ...nobody, period }),
      ...crossed(each, own, cost, { subject: 'principal', key: identity.principal_key, surface: null, period }),
      ...(budget === null ? [] : crossed({ soft_usd: null, hard_usd: budget.limit }, budget.spent, cost, toOverspend(budget))),
    ];
    for (const over of met) report(over);
  };

  return {
    check(identity: Spender, isPublic: boolean, sender?: SenderOf): SpendVerdict {
      const over = overBudget(sender) ?? overLimit(identity);
      if (over === null) return allowed;
      events.spend(over, identity);
      const mayKnow = over.subject !== 'total' || atLeast(identity.trust_tier, 'TRUSTED');
      return { allowed: false, reply: refusalText(over, !isPublic && mayKnow) };
    },

    mayPay: (identity, sender) => (overBudget(sender) ?? overLimit(identity)) === null,

    add: (identity, cost, sender) => count(identity, cost, sender, 1),
    addSideCall: (identity, cost, sender) => count(identity, cost, sender, 0),

    warnings,
    budgetOf: (sender) => budgets.of(sender)?.limit ?? null,
    setBudget: budgets.set,

    report(): SpendReport {
      const { period, total: cost_usd, byPrincipal } = ledger.current();
      return {
        period: period.name,
        since: period.since,
        until: period.until,
        total: { cost_usd, ...total },
        per_principal: each,
        principals: [...byPrincipal.values()].toSorted((a, b) => b.cost_usd - a.cost_usd),
        budgets: budgets.list(),
      };
    },

    async close() {
      await Promise.all([ledger.close(), budgets.close()]);
    },
  };
}

type Subject = Pick<Overspend, 'subject' | 'key' | 'surface' | 'period'>;
const nobody = { key: null, surface: null };
const toOverspend = (budget: Standing): Overspend => ({ ...budget, subject: 'sender', level: 'hard' });

/** The higher of the limits that a sum has reached. */
function highest(limits: SpendLimits, spent: number, subject: Subject): Overspend | null {
  const reached = reachedLimit(limits, spent);
  return reached === null ? null : { ...subject, ...reached, spent };
}

/** The limits that the last `cost` has crossed. Sums only grow, so that happens once per period. */
function crossed({ soft_usd, hard_usd }: SpendLimits, spent: number, cost: number, subject: Subject): Overspend[] {
  const justNow = (limit: number | null): limit is number => isLimitReached(spent, limit) && !isLimitReached(spent - cost, limit);
  return [
    ...(justNow(soft_usd) ? [{ ...subject, level: 'soft' as const, spent, limit: soft_usd }] : []),
    ...(justNow(hard_usd) ? [{ ...subject, level: 'hard' as const, spent, limit: hard_usd }] : []),
  ];
}

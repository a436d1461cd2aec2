import { errorText } from '@svc/connector-kit';
import { within } from '@svc/service-kit/within.ts';
import type { Gateway } from '../gateway.ts';

/** A refusal comes within it; what takes longer is being answered, ms. */
const refusedWithinMs = 2_000;

/** Resolves when words are on their way into a conversation: nobody waits for the answer to them. Rejects as the core refuses them. */
export async function withoutRefusal({ ctx, clock }: Pick<Gateway, 'ctx' | 'clock'>, injected: Promise<void>): Promise<void> {
  injected.catch((error: unknown) =>
    ctx.log('warn', 'a message could not be sent to a conversation', { error: errorText(error) }),
  );
  await within(injected, refusedWithinMs, clock);
}

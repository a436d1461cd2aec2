import { errorText } from '@svc/connector-kit';
import type { Gateway } from '../gateway.ts';

/** A refusal comes within it; what takes longer is being answered, ms. */
const refusedWithinMs = 2_000;

/** Resolves when words are on their way into a conversation: nobody waits for the answer to them. Rejects as the core refuses them. */
export async function withoutRefusal({ ctx, clock }: Pick<Gateway, 'ctx' | 'clock'>, injected: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(refusedWithinMs, late.resolve);
  injected.catch((error: unknown) => ctx.log('warn', 'words for a conversation were not said', { error: errorText(error) }));
  try {
    await Promise.race([injected, late.promise]);
  } finally {
    cancel();
  }
}

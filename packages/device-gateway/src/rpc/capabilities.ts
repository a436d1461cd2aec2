import { badRequest, type ConnectorState } from '@svc/connector-kit';
import { maxCapabilityInput, type Capability } from '@svc/contract/device-actions.ts';

/** The capabilities that devices have reported. Stored, so that a device that is briefly offline does not appear to have none. */
export type Capabilities = {
  of(deviceId: string): readonly Capability[];
  /** @throws ServiceError `bad_request` for a capability that could not be offered to a model */
  describe(deviceId: string, capabilities: readonly Capability[]): Promise<void>;
  forget(deviceId: string): Promise<void>;
};

const prefix = 'capabilities/';

export async function openCapabilities(state: ConnectorState): Promise<Capabilities> {
  const known = new Map<string, readonly Capability[]>();
  for (const { key, value } of await state.list(prefix)) known.set(key.slice(prefix.length), value as unknown as Capability[]);
  return {
    of: (deviceId) => known.get(deviceId) ?? [],
    async describe(deviceId, capabilities) {
      check(capabilities);
      const kept = capabilities.map(({ name, description, input, policy, dangerous = false }) => ({
        name,
        description,
        ...(input !== undefined && { input }),
        policy,
        dangerous,
      }));
      if (JSON.stringify(kept) === JSON.stringify(known.get(deviceId) ?? [])) return;
      await state.set(prefix + deviceId, kept as never);
      known.set(deviceId, kept);
    },
    async forget(deviceId) {
      known.delete(deviceId);
      await state.delete(prefix + deviceId);
    },
  };
}

function check(capabilities: readonly Capability[]): void {
  const names = new Set<string>();
  for (const { name, input } of capabilities) {
    if (names.has(name)) throw badRequest(`The capability "${name}" is listed twice.`);
    names.add(name);
    if (input !== undefined && JSON.stringify(input).length > maxCapabilityInput)
      throw badRequest(`The input of "${name}" is longer than ${maxCapabilityInput} characters of JSON.`);
  }
}

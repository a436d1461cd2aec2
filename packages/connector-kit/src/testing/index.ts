/** Tools for testing connectors. They need no test runner of their own. */
export { connectorContract, type ContractOptions } from './connector-contract.ts';
export { defaultsOf, fakeContext, type FakeContext } from './fake-context.ts';
export type { SavedFile } from './fake-uploads.ts';
export { createFakeCore, echo, type FakeCore, type FakeTurn, type Script } from './fake-core.ts';

import { setting } from '../setting.ts';
import { optionalText } from '../setting-types.ts';

/** Settings: the `svc` program, which starts Node. */
export const wrapperSettings = {
  node: setting('SVC_NODE', optionalText(), { text: 'Node program that ./svc uses instead of looking for one.' }),
};

export const spendPath = '/core/v2/spend';

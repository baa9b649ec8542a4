export const label = (name: string): string => `https://notes.test/${name}`;

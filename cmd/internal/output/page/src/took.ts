// Durations as a terminal shows them: view/testdata/durations.txt has examples, which the tests of both compare.
export function took(ms: number): string {
  if (ms < 100) return "<0.1s";
  if (ms < 9950) return `${(Math.round(ms / 100) / 10).toFixed(1)}s`;
  const s = Math.round(ms / 1000), two = (n: number) => String(n).padStart(2, "0");
  return s < 60 ? `${s}s` : s < 3600 ? `${Math.floor(s / 60)}m${two(s % 60)}s` : `${Math.floor(s / 3600)}h${two(Math.floor(s / 60) % 60)}m`;
}

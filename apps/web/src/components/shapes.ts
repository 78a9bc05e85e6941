/** Shapes of 16 × 16, drawn as lines; each one tells its meaning without colour. */
export const shapes = {
  check: 'M3 8.5 6.5 12 13 4.5',
  checkTwice: 'M1.5 8.5 5 12l6-7.5M8 11.4l.6.6L15 4.5',
  checkFaint: 'M3 7 6.5 10.5 13 3M3 14h1.5m2.7 0h1.6m2.7 0H13',
  play: 'M5 3.2v9.6L13 8z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M12.8 1.8v3.4H9.4',
  cross: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.2',
  ring: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z',
  skip: 'M3.5 3.5v9L10 8zM12.5 3.5v9',
  nothing: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM3 13 13 3',
  question: 'M5.5 5.6a2.5 2.5 0 1 1 3.6 2.3C8.3 8.3 8 8.8 8 9.6M8 12.4v.2',
} as const

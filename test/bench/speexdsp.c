// What a 20 ms frame costs in Debian's libspeexdsp, in nanoseconds: the bench compiles this where the library is installed.
#include <speex/speex_resampler.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 21, FRAMES = 500 };

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  const int from = atoi(arguments[1]), to = atoi(arguments[2]), quality = atoi(arguments[3]);
  static spx_int16_t input[480], output[1024];
  int error = 0;
  SpeexResamplerState *resampler = speex_resampler_init(1, from, to, quality, &error);
  if (error != 0) return 1;
  for (int n = 0; n < from / 50; n++) input[n] = (n * 7919) % 20000 - 10000;
  double rounds[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int frame = 0; frame < FRAMES; frame++) {
      spx_uint32_t in = from / 50, out = 1024;
      speex_resampler_process_int(resampler, 0, input, &in, output, &out);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    rounds[round] = ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / FRAMES;
  }
  qsort(rounds, ROUNDS, sizeof rounds[0], compare);
  printf("%.0f\n", rounds[ROUNDS / 2]);
  return 0;
}

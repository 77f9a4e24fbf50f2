/* installed.c: a program that knows only the installed flashulp.h; tests/check_install.sh builds it.
   usage: installed TRACE: prints digest and true digits of minilm-4 and fa2-4, and a refusal. */
#include <flashulp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *const real[] = {"minilm-4"}, *const small[] = {"fa2-4", "--policy", "gpu-bf16"};
    const char *const wrong[] = {"fa2-5"}, *const beyond[] = {"fa2-4", "--json"};
    flashulp *f = flashulp_new(1, real);
    int64_t shape[4];
    if (argc < 2 || flashulp_abi() != FLASHULP_ABI || flashulp_why(f) != NULL || !flashulp_run(f))
        return 1;
    flashulp_shape(f, shape);
    printf("%lld,%lld,%lld,%lld %016llx\n", (long long)shape[0], (long long)shape[1],
           (long long)shape[2], (long long)shape[3], (unsigned long long)flashulp_digest(f));
    flashulp_free(f);
    f = flashulp_new(3, small);
    char *digits = flashulp_exact(f, 0, 0, 0, 0, 20), *lse = flashulp_exact(f, 0, 0, 0, -1, 10);
    if (digits == NULL || lse == NULL || !flashulp_run(f) || !flashulp_trace(f, argv[1], false))
        return 1;
    printf("%s: O %g, exactly %s, L %s\n", flashulp_command(f), flashulp_output(f)[0], digits, lse);
    flashulp_text_free(digits);
    flashulp_text_free(lse);
    if (flashulp_exact(f, 0, 0, 1, 0, 5) == NULL)
        printf("%s\n", flashulp_why(f));
    flashulp_free(f);
    f = flashulp_new(1, wrong);
    printf("%s\n", flashulp_why(f));
    flashulp_free(f);
    f = flashulp_new(2, beyond);
    printf("%s\n", flashulp_why(f));
    flashulp_free(f);
    return 0;
}

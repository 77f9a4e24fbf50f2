#!/bin/sh
# Builds flashulp-gpu-device, the kernels for GPUs, with nvcc: one program for every wanted architecture
# that this nvcc knows; what it does not know is said.  What ptxas says of registers and spills is kept
# beside each object, in *.device.log.  Only what is older than its source is compiled.
# usage: gpu/device.sh BUILD HOST-OBJECTS-AND-ARCHIVES...      ARCHS="80 90": only these
#        gpu/device.sh say      what it would build, in a line or two; builds nothing
build=$1
shift
nvcc=$(command -v nvcc) || { echo "skipped: CUDA kernels for GPUs need nvcc, of the CUDA toolkit; the emulator runs them" >&2; exit 0; }
known=" $("$nvcc" --list-gpu-arch | sed -n 's/^compute_\([0-9]*\)$/\1/p' | tr '\n' ' ') "
codes='' newest='' left_out='' taken=''
for arch in ${ARCHS:-75 80 86 89 90 100 120}; do
    case $known in
    *" $arch "*) codes="$codes -gencode arch=compute_$arch,code=sm_$arch" newest=$arch taken="$taken sm_$arch" ;;
    *) left_out="$left_out sm_$arch" ;;
    esac
done
[ -z "$left_out" ] || echo "gpu: this nvcc does not know$left_out: left out" >&2
[ -n "$newest" ] || { echo "gpu: this nvcc knows none of the wanted architectures" >&2; [ "$build" = say ]; exit; }
if [ "$build" = say ]; then
    echo "not built yet: CUDA kernels for GPUs; make gpu compiles them for$taken (7 minutes)" >&2
    exit
fi
codes="$codes -gencode arch=compute_$newest,code=compute_$newest"
mkdir -p "$build/gpu/kernels"
echo "$codes" | cmp -s - "$build/gpu/device.codes" || echo "$codes" >"$build/gpu/device.codes"
objects=''
for source in gpu/kernels/*.cu gpu/target_cuda.cu; do
    object=$build/${source%.cu}.device.o
    objects="$objects $object"
    fresh=yes
    for other in "$source" gpu/*.h gpu/kernels/*.h simulator/special_poly.h "$build/gpu/device.codes"; do
        [ "$object" -nt "$other" ] || fresh=no
    done
    [ $fresh = no ] || continue
    # Products and sums stay apart unless a kernel fuses them by name.
    "$nvcc" -I. -std=c++17 -O3 -fmad=false --threads 2 $codes -Xptxas -v -c -o "$object" "$source" \
        >"${object%.o}.log" 2>&1 || { cat "${object%.o}.log" >&2; rm -f "$object"; exit 1; }
done
"$nvcc" -o "$build/flashulp-gpu-device" $objects "$@" -lgsl -lgslcblas -lmpfr -lgmp -lcjson -lm -lpthread &&
    echo "gpu: $build/flashulp-gpu-device has$taken, and PTX of compute_$newest for later ones" >&2

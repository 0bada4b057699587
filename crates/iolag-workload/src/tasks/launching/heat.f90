! Heat on a plate: Jacobi iterations on a square grid until the change is small.
! The program that `iolag check` compiles: short, with the loops, arrays and formats of everyday numerics.
module plate_module
  implicit none
  private
  public :: points, steps_max, tolerance, real_kind, set_boundary, relax, mean_of

  integer, parameter :: real_kind = selected_real_kind(12)
  integer, parameter :: points = 64
  integer, parameter :: steps_max = 20000
  real(real_kind), parameter :: tolerance = 1.0e-6_real_kind

contains

  subroutine set_boundary(plate)
    real(real_kind), intent(out) :: plate(points, points)
    real(real_kind) :: along
    integer :: i

    plate = 0.0_real_kind
    do i = 1, points
      along = real(i - 1, real_kind) / real(points - 1, real_kind)
      plate(1, i) = 100.0_real_kind * along
      plate(points, i) = 100.0_real_kind * (1.0_real_kind - along)
      plate(i, 1) = 25.0_real_kind * along * (1.0_real_kind - along)
      plate(i, points) = 50.0_real_kind
    end do
  end subroutine set_boundary

  function relax(from, to) result(largest)
    real(real_kind), intent(in) :: from(points, points)
    real(real_kind), intent(inout) :: to(points, points)
    real(real_kind) :: largest
    real(real_kind) :: next
    integer :: i, j

    largest = 0.0_real_kind
    do j = 2, points - 1
      do i = 2, points - 1
        next = 0.25_real_kind * (from(i - 1, j) + from(i + 1, j) &
                                 + from(i, j - 1) + from(i, j + 1))
        largest = max(largest, abs(next - from(i, j)))
        to(i, j) = next
      end do
    end do
  end function relax

  function mean_of(plate) result(mean)
    real(real_kind), intent(in) :: plate(points, points)
    real(real_kind) :: mean

    mean = sum(plate) / real(points * points, real_kind)
  end function mean_of

end module plate_module

program heat
  use plate_module
  implicit none

  real(real_kind), allocatable :: here(:, :), there(:, :)
  real(real_kind) :: change
  integer :: steps, status

  allocate (here(points, points), there(points, points), stat=status)
  if (status /= 0) then
    write (*, '(a, i0, a)') 'no memory for two plates of ', points * points, ' points'
    stop 1
  end if

  call set_boundary(here)
  there = here
  steps = 0
  do
    change = relax(here, there)
    here = there
    steps = steps + 1
    if (change <= tolerance .or. steps >= steps_max) exit
  end do

  write (*, '(a, i0)') 'steps ', steps
  write (*, '(a, es10.3)') 'last change ', change
  write (*, '(a, f12.6)') 'mean ', mean_of(here)
  deallocate (here, there)
  if (change > tolerance) stop 1
end program heat
